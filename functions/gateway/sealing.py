"""Which sealing is in force: AWS KMS where a key is named, a key file beside SQLite's, and none otherwise."""

from pathlib import Path

from core.ports import Clock, Sealer
from functions.settings import Settings

KEY_FILE = "seal.key"


def make_sealer(settings: Settings, clock: Clock) -> Sealer | None:
    """The sealer that the settings name, or None; it opens nothing before it is needed.

    A key file is never used with DynamoDB: each process of a function would have another one.
    """
    if settings.kms_key is not None:
        from core.sealing.kms import KmsSealer

        return KmsSealer(settings.kms_key, clock)
    if settings.store != "sqlite":
        return None
    from core.sealing.local import LocalSealer

    return LocalSealer(seal_key_file(settings))


def seal_key_file(settings: Settings) -> Path:
    """Where the local keys lie: beside the database unless another place was set."""
    return settings.seal_key_file or settings.sqlite_path.with_name(KEY_FILE)

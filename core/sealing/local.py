"""Sealing with keys from a file of this machine: one key a line, the last one seals, every one opens."""

import os
from base64 import b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from hashlib import sha256
from pathlib import Path
from threading import Lock

from core.kept import Place
from core.sealing.cipher import decrypt, encrypt
from core.sealing.form import KEY_BYTES, parse, unusable, written

_ID_BYTES = 6


class LocalSealer:
    """A `Sealer` whose keys lie in a file, which is made with the first use where it is missing.

    A line is 32 random bytes in base64; empty lines and those that begin with `#` are passed over. To rotate, add a
    line; take an old one away once nothing that it sealed is needed any more.

    Args:
        path: The file. It is made readable by its owner alone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys: dict[bytes, bytes] = {}
        self._lock = Lock()

    async def seal(self, data: bytes, place: Place) -> str:
        """See `Sealer.seal`."""
        keys = self._keys or self._read()
        name = next(reversed(keys))
        return written(encrypt(keys[name], name, data, place))

    async def open(self, sealed: str, place: Place) -> bytes:
        """See `Sealer.open`."""
        parsed = parse(sealed)
        secret = self._keys.get(parsed.key)
        if secret is None:  # another process may have rotated since
            secret = self._read().get(parsed.key)
        if secret is None:
            raise unusable(f"the key {parsed.key.hex()} is not in {self._path}; put its line back")
        return decrypt(secret, parsed, place)

    def _read(self) -> dict[bytes, bytes]:
        # A file of a few lines: shorter than handing it to a thread.
        try:
            with self._lock:
                if not self._path.exists():
                    _make(self._path)
                lines = self._path.read_text("ascii").split("\n")
        except (OSError, ValueError) as error:
            words = error.strerror if isinstance(error, OSError) else "it holds more than keys"
            raise unusable(f"the key file {self._path} cannot be used: {words}") from error
        secrets = [_secret(line) for line in lines if line.strip() and not line.startswith("#")]
        if not secrets or None in secrets:
            raise unusable(f"each line of the key file {self._path} must be 32 bytes in base64")
        self._keys = {sha256(secret).digest()[:_ID_BYTES]: secret for secret in secrets if secret is not None}
        return self._keys


def _make(path: Path) -> None:
    """Make the file with a new key; whoever comes first makes it whole, and the others take theirs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.urandom(6).hex()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(urlsafe_b64encode(os.urandom(KEY_BYTES)).decode() + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _secret(line: str) -> bytes | None:
    try:
        secret = b64decode(line.strip(), altchars=b"-_" if {"-", "_"} & {*line} else None, validate=True)
    except (Base64Error, ValueError):
        return None
    return secret if len(secret) == KEY_BYTES else None

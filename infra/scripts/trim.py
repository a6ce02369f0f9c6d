"""Takes out of a built package what the gateway never runs, and fixes the modes of the rest.

Every name that is taken out stands here with its reason; nothing is guessed.
"""

import shutil
from pathlib import Path

# The AWS services that the gateway calls. Botocore describes more than 400, nine
# tenths of its size; a client of any other service fails with UnknownServiceError.
SERVICES = frozenset({"dynamodb", "kms", "secretsmanager", "sts"})

# Folders with one entry per service.
PER_SERVICE = ("botocore/data", "boto3/data")

UNUSED = (
    "bin",  # console scripts of the dependencies
    "requirements.txt",  # what was installed; the build has read it
    "boto3/examples",  # texts for its documentation
)


def trim(package: Path) -> None:
    """Remove what does not run from a package that `sam build` made, in place."""
    for name in UNUSED:
        _remove(package / name)
    for folder in PER_SERVICE:
        for entry in sorted((package / folder).iterdir()):
            if entry.is_dir() and entry.name not in SERVICES:
                _remove(entry)
    for hidden in sorted(package.glob(".*")):
        _remove(hidden)


def open_to_all(package: Path) -> None:
    """Make everything readable, as Lambda needs it, whatever umask the build ran under."""
    for path in sorted(package.rglob("*")):
        runs = path.is_dir() or path.stat().st_mode & 0o100
        path.chmod(0o755 if runs else 0o644)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)

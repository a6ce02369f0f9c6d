"""The format of callers' keys: `hr_`, 34 random characters, 6 of checksum. It never looks a key up or keeps one.

The checksum is no secret and proves nothing; it lets typing errors, cut-off keys and attacks on the look-up be refused
without one.
"""

import hashlib
import re
import zlib

PREFIX = "hr_"
ENTROPY_BYTES = 64
"""How many random bytes `make_key` is given."""

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM = 34
_CHECKSUM = 6
_LENGTH = len(PREFIX) + _RANDOM + _CHECKSUM
_FORM = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{_RANDOM + _CHECKSUM}}}")

# The largest multiple of 62 that a byte can count to: bytes from here on would favour the first letters.
_FAIR = 256 - 256 % len(_ALPHABET)


def make_key(random_bytes: bytes) -> str:
    """A new key, every one equally likely (about 202 bits).

    Args:
        random_bytes: `ENTROPY_BYTES` from a cryptographic source, used for nothing else.

    Raises:
        ValueError: Too few of them can be used without favouring a letter; ask the source for new ones. With
            `ENTROPY_BYTES` that happens to nobody (less than once in 10^28).
    """
    fair = [byte for byte in random_bytes if byte < _FAIR][:_RANDOM]
    if len(fair) < _RANDOM:
        raise ValueError(f"a key needs {ENTROPY_BYTES} random bytes; these are too few, or not random")
    body = "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in fair)
    return f"{PREFIX}{body}{_checksum(body)}"


def is_well_formed(key: str) -> bool:
    """Whether that could be a key: form and checksum. Costs the same whatever is sent."""
    if len(key) != _LENGTH or _FORM.fullmatch(key) is None:
        return False
    return key[-_CHECKSUM:] == _checksum(key[len(PREFIX) : -_CHECKSUM])


def digest(key: str) -> str:
    """The SHA-256 of a key, in hex: all that is kept of it, and what it is found by."""
    return hashlib.sha256(key.encode()).hexdigest()


def hint(key: str) -> str:
    """The last four characters, by which its owner recognises a key in a list."""
    return key[-4:]


def _checksum(body: str) -> str:
    # CRC-32 sees every change of up to 32 bits in a row, so of any one character or two neighbours.
    rest = zlib.crc32(body.encode())
    letters = []
    for _ in range(_CHECKSUM):
        rest, letter = divmod(rest, len(_ALPHABET))
        letters.append(_ALPHABET[letter])
    return "".join(reversed(letters))

"""The written form of sealed values, and what is authenticated beside them; it holds no key and encrypts nothing."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from dataclasses import dataclass
from typing import Final

import orjson

from core.errors import StoreUnavailable
from core.kept import Place

VERSION: Final = "s1"
KEY_BYTES: Final = 32
"""AES-256."""
NONCE_BYTES: Final = 12

_MESSAGE: Final = "The gateway cannot use the key that seals what it keeps. Send the request again shortly."


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed value in its parts.

    `key` tells which key opens it: the id of a local key, or an encrypted data key that its maker can decrypt. `nonce`
    is `NONCE_BYTES` long; `data` is the ciphertext with its tag.
    """

    key: bytes
    nonce: bytes
    data: bytes


def written(sealed: Sealed) -> str:
    """The form in which it is kept: ASCII without spaces."""
    return ".".join((VERSION, *(_text(part) for part in (sealed.key, sealed.nonce, sealed.data))))


def parse(text: str) -> Sealed:
    """The parts of a value that was `written`.

    Raises:
        StoreUnavailable: It is damaged, or of another version.
    """
    version, *parts = text.split(".")
    if version != VERSION or len(parts) != 3:
        raise unusable("a sealed value is damaged, or a newer version of Headrace wrote it")
    try:
        key, nonce, data = (urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in parts)
    except (Base64Error, ValueError) as error:
        raise unusable("a sealed value is damaged") from error
    if len(nonce) != NONCE_BYTES:
        raise unusable("a sealed value is damaged")
    return Sealed(key, nonce, data)


def bound_to(place: Place, key: bytes) -> bytes:
    """What is authenticated beside the value; another place or another `key` never gives the same bytes."""
    return orjson.dumps([VERSION, place.org, place.purpose, place.name, key.hex()])


def unusable(detail: str, retry_after_s: float | None = None) -> StoreUnavailable:
    """What is raised when something cannot be sealed or opened; `detail` is for the operator."""
    return StoreUnavailable(_MESSAGE, detail=f"Sealing failed: {detail}.", retry_after_s=retry_after_s)


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()

"""AES-256-GCM under a key that is handed in (NIST SP 800-38D: 96 random bits of nonce for each value)."""

import os

from core.kept import Place
from core.sealing.form import NONCE_BYTES, Sealed, bound_to, unusable


def encrypt(secret: bytes, key: bytes, data: bytes, place: Place) -> Sealed:
    """Encrypt `data` with the 32 bytes of `secret`; `key` is what the result says of the secret."""
    # Imported with the first use: most cold starts seal nothing.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(NONCE_BYTES)
    return Sealed(key, nonce, AESGCM(secret).encrypt(nonce, data, bound_to(place, key)))


def decrypt(secret: bytes, sealed: Sealed, place: Place) -> bytes:
    """What was encrypted.

    Raises:
        StoreUnavailable: It was changed, or sealed with another secret or for another place.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(secret).decrypt(sealed.nonce, sealed.data, bound_to(place, sealed.key))
    except InvalidTag as error:
        raise unusable(f"a value at {place.purpose} was changed, or belongs to another place") from error

"""Sealing under a key of AWS KMS: data keys from there encrypt here, each kept for a while and for one organisation.

KMS authenticates the organisation with the data key, so that another organisation's cannot even be decrypted; the rest
of the place is authenticated with the value itself.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from core.kept import Place
from core.ports import Clock
from core.sealing.cipher import decrypt, encrypt
from core.sealing.form import parse, unusable, written

KEPT_S: Final = 300.0
"""How long a data key is used before KMS is asked again, so that taking a right away takes effect."""
MOST_USES: Final = 10_000
"""How many values one data key seals."""
MOST_KEPT: Final = 1_000

Result = TypeVar("Result")


@dataclass(slots=True)
class _DataKey:
    secret: bytes
    encrypted: bytes
    made: float
    uses: int = 0


class KmsSealer:
    """A `Sealer` on AWS KMS.

    Args:
        key: The KMS key's id or ARN, or an alias of it that begins with `alias/`.
        clock: For the age of data keys.
        client: Makes the KMS client, with the first use.
    """

    def __init__(self, key: str, clock: Clock, client: Callable[[], Any] | None = None) -> None:
        self._key = key
        self._clock = clock
        self._make_client = client or _client
        self._client: Any = None
        self._sealing: OrderedDict[str, _DataKey] = OrderedDict()
        self._opening: OrderedDict[tuple[str, bytes], _DataKey] = OrderedDict()
        self._asking: dict[str, asyncio.Task[_DataKey]] = {}

    async def seal(self, data: bytes, place: Place) -> str:
        """See `Sealer.seal`."""
        key = self._sealing.get(place.org)
        if key is None or self._is_old(key) or key.uses >= MOST_USES:
            key = await self._new(place.org)
        key.uses += 1
        return written(encrypt(key.secret, key.encrypted, data, place))

    async def open(self, sealed: str, place: Place) -> bytes:
        """See `Sealer.open`."""
        parsed = parse(sealed)
        name = place.org, parsed.key
        key = self._opening.get(name)
        if key is None or self._is_old(key):
            made = self._clock.monotonic()
            secret = await asyncio.to_thread(self._decrypted, place.org, parsed.key)
            key = _DataKey(secret, parsed.key, made)
            _keep(self._opening, name, key)
        return decrypt(key.secret, parsed, place)

    async def _new(self, org: str) -> _DataKey:
        """A new data key; who wants one for the same organisation meanwhile shares it."""
        task = self._asking.get(org)
        if task is None:
            task = self._asking[org] = asyncio.ensure_future(self._made(org))
            task.add_done_callback(lambda done: self._asked(org, done))
        return await asyncio.shield(task)

    def _asked(self, org: str, task: "asyncio.Task[_DataKey]") -> None:
        self._asking.pop(org, None)
        if not task.cancelled():
            task.exception()  # it is known now, even if everyone who waited has left

    async def _made(self, org: str) -> _DataKey:
        made = self._clock.monotonic()
        secret, encrypted = await asyncio.to_thread(self._generated, org)
        key = _DataKey(secret, encrypted, made)
        _keep(self._sealing, org, key)
        _keep(self._opening, (org, encrypted), key)
        return key

    def _generated(self, org: str) -> tuple[bytes, bytes]:
        answer = self._call(
            lambda kms: kms.generate_data_key(KeyId=self._key, KeySpec="AES_256", EncryptionContext=_context(org))
        )
        return answer["Plaintext"], answer["CiphertextBlob"]

    def _decrypted(self, org: str, encrypted: bytes) -> bytes:
        # An alias may stand for another key by now; what was encrypted names its own.
        named = {} if self._key.startswith("alias/") else {"KeyId": self._key}
        answer = self._call(lambda kms: kms.decrypt(CiphertextBlob=encrypted, EncryptionContext=_context(org), **named))
        secret: bytes = answer["Plaintext"]
        return secret

    def _call(self, ask: Callable[[Any], Any]) -> Any:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            if self._client is None:
                self._client = self._make_client()
            return ask(self._client)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            words, retry_after_s = _WORDS.get(code, ("KMS failed", 1.0))
            raise unusable(f"the KMS key {self._key}: {words} ({code})", retry_after_s) from error
        except BotoCoreError as error:
            raise unusable(f"the KMS key {self._key}: KMS cannot be reached ({type(error).__name__})", 1.0) from error

    def _is_old(self, key: _DataKey) -> bool:
        return self._clock.monotonic() - key.made >= KEPT_S


def _keep(kept: "OrderedDict[Result, _DataKey]", name: Result, key: _DataKey) -> None:
    kept[name] = key
    kept.move_to_end(name)
    if len(kept) > MOST_KEPT:
        kept.popitem(last=False)


def _context(org: str) -> dict[str, str]:
    return {"headrace:organisation": org}


def _client() -> Any:
    import boto3
    from botocore.config import Config

    config = Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 3})
    # A session of its own: the common one is not safe to make clients from in threads.
    return boto3.Session().client("kms", config=config)


# By the code in the answer (KMS API reference, "Decrypt" and "GenerateDataKey", read 2026-12-01): what it means, and
# after how many seconds a repeat can help.
_WORDS: Final[dict[str, tuple[str, float | None]]] = {
    "AccessDeniedException": ("the role may not use it; allow kms:GenerateDataKey and kms:Decrypt on it", None),
    "DisabledException": ("it is disabled; enable it", None),
    "IncorrectKeyException": ("a value was sealed under another key; name that one", None),
    "InvalidCiphertextException": ("a value was changed, or belongs to another organisation", None),
    "KMSInvalidStateException": ("it is about to be deleted, or not ready; cancel the deletion", None),
    "KeyUnavailableException": ("KMS cannot use it at the moment", 1.0),
    "NotFoundException": ("there is no such key in this region", None),
    "ThrottlingException": ("KMS throttles; raise its request quota if it goes on", 1.0),
}

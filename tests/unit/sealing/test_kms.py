import asyncio
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from core.errors import StoreUnavailable
from core.kept import Place
from core.sealing.kms import KEPT_S, MOST_KEPT, MOST_USES, KmsSealer
from tests.support.clock import ManualClock

HERE = Place("acme", "answer", "one")


class Kms:
    """Two operations of KMS, counted: an encrypted data key names its organisation."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.failure: Exception | None = None
        self.decrypted_with: list[str | None] = []

    def generate_data_key(self, KeyId: str, KeySpec: str, EncryptionContext: dict[str, str]) -> Any:
        self._called("generate_data_key")
        assert KeyId in ("the-key", "alias/the-key")
        assert KeySpec == "AES_256"
        encrypted = f"{EncryptionContext['headrace:organisation']}/{self.calls['generate_data_key']}".encode()
        return {"Plaintext": sha256(encrypted).digest(), "CiphertextBlob": encrypted}

    def decrypt(self, CiphertextBlob: bytes, EncryptionContext: dict[str, str], KeyId: str | None = None) -> Any:
        self._called("decrypt")
        self.decrypted_with.append(KeyId)
        if CiphertextBlob.partition(b"/")[0].decode() != EncryptionContext["headrace:organisation"]:
            raise answer("InvalidCiphertextException")
        return {"Plaintext": sha256(CiphertextBlob).digest()}

    def _called(self, operation: str) -> None:
        self.calls[operation] += 1
        if self.failure is not None:
            raise self.failure


def answer(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": f"a {code}"}}, "Decrypt")


def made(kms: Kms) -> tuple[KmsSealer, ManualClock]:
    clock = ManualClock()
    return KmsSealer("the-key", clock, lambda: kms), clock


async def test_a_data_key_serves_one_organisation_for_a_while() -> None:
    kms = Kms()
    sealer, clock = made(kms)
    sealed = [await sealer.seal(b"data", HERE) for _ in range(5)]
    assert [await sealer.open(each, HERE) for each in sealed] == [b"data"] * 5
    assert kms.calls == {"generate_data_key": 1}
    await sealer.seal(b"data", Place("zeta", "answer", "one"))
    assert kms.calls == {"generate_data_key": 2}
    await clock.advance(KEPT_S - 1)
    await sealer.seal(b"data", HERE)
    assert kms.calls == {"generate_data_key": 2}
    await clock.advance(1)
    await sealer.seal(b"data", HERE)
    assert kms.calls == {"generate_data_key": 3}
    assert await sealer.open(sealed[0], HERE) == b"data"
    assert await sealer.open(sealed[1], HERE) == b"data"
    assert kms.calls == {"generate_data_key": 3, "decrypt": 1}
    await clock.advance(KEPT_S)
    assert await sealer.open(sealed[0], HERE) == b"data"
    assert kms.calls == {"generate_data_key": 3, "decrypt": 2}


async def test_a_data_key_seals_only_so_many_values() -> None:
    kms = Kms()
    sealer, _ = made(kms)
    for _ in range(MOST_USES):
        await sealer.seal(b"", HERE)
    assert kms.calls["generate_data_key"] == 1
    await sealer.seal(b"", HERE)
    assert kms.calls["generate_data_key"] == 2


@pytest.mark.parametrize(("key", "named"), [("the-key", "the-key"), ("alias/the-key", None)])
async def test_an_alias_may_stand_for_another_key_by_now(key: str, named: str | None) -> None:
    kms = Kms()
    sealed = await KmsSealer(key, ManualClock(), lambda: kms).seal(b"data", HERE)
    assert await KmsSealer(key, ManualClock(), lambda: kms).open(sealed, HERE) == b"data"
    assert kms.decrypted_with == [named]


async def test_those_who_need_a_key_at_once_share_one() -> None:
    kms = Kms()
    sealer, _ = made(kms)
    sealed = await asyncio.gather(*(sealer.seal(b"data", HERE) for _ in range(20)))
    assert kms.calls == {"generate_data_key": 1}
    assert len(set(sealed)) == 20


async def test_only_so_many_keys_are_kept() -> None:
    kms = Kms()
    sealer, _ = made(kms)
    first = Place("0", "answer", "one")
    sealed = await sealer.seal(b"data", first)
    for number in range(1, MOST_KEPT + 1):
        await sealer.seal(b"data", Place(str(number), "answer", "one"))
    assert await sealer.open(sealed, first) == b"data"
    assert kms.calls["decrypt"] == 1


@pytest.mark.parametrize(
    ("failure", "words", "helps"),
    [
        (answer("AccessDeniedException"), "kms:Decrypt", False),
        (answer("DisabledException"), "disabled", False),
        (answer("KMSInvalidStateException"), "about to be deleted", False),
        (answer("NotFoundException"), "no such key", False),
        (answer("ThrottlingException"), "throttles", True),
        (answer("SomethingNewException"), "KMS failed", True),
        (ClientError({}, "Decrypt"), "KMS failed", True),
        (EndpointConnectionError(endpoint_url="http://x"), "cannot be reached", True),
    ],
)
async def test_every_failure_is_told_to_the_operator(failure: Exception, words: str, helps: bool) -> None:
    kms = Kms()
    sealer, _ = made(kms)
    sealed = await made(kms)[0].seal(b"data", HERE)
    kms.failure = failure
    for work in (lambda: sealer.seal(b"data", HERE), lambda: sealer.open(sealed, HERE)):
        with pytest.raises(StoreUnavailable) as caught:
            await work()
        assert words in caught.value.detail
        assert "the-key" in caught.value.detail
        assert "the-key" not in caught.value.message
        assert (caught.value.retry_after_s is not None) is helps
    kms.failure = None
    assert await sealer.open(await sealer.seal(b"data", HERE), HERE) == b"data", "a failure is not remembered"


async def test_a_task_that_gives_up_does_not_take_the_key_from_others() -> None:
    kms = Kms()
    sealer, _ = made(kms)
    first = asyncio.ensure_future(sealer.seal(b"data", HERE))
    second = asyncio.ensure_future(sealer.seal(b"data", HERE))
    await asyncio.sleep(0)
    first.cancel()
    assert await sealer.open(await second, HERE) == b"data"
    assert kms.calls == {"generate_data_key": 1}


def test_a_loop_that_ends_while_a_key_is_asked_for_leaves_nothing_behind() -> None:
    kms = Kms()
    sealer, _ = made(kms)

    async def give_up() -> None:
        task = asyncio.ensure_future(sealer.seal(b"data", HERE))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(give_up())
    assert asyncio.run(sealer.open(asyncio.run(sealer.seal(b"data", HERE)), HERE)) == b"data"


def test_the_client_is_of_the_environments_region(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with pytest.raises(StoreUnavailable) as caught:
        asyncio.run(KmsSealer("the-key", ManualClock()).seal(b"data", HERE))
    assert "NoRegionError" in caught.value.detail

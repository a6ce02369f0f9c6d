"""What both ways of sealing promise: a value opens where it was put, unchanged, and nowhere else."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import boto3
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import StoreUnavailable
from core.kept import Place
from core.ports import Sealer
from core.sealing.kms import KmsSealer
from core.sealing.local import LocalSealer
from tests.support.clock import ManualClock
from tests.support.ministack import REGION, Ministack

HERE = Place("acme", "answer", "one")
kept_sealer = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
names = st.text(max_size=12)

MakeSealer = Callable[[], Sealer]


@pytest.fixture(scope="session")
def kms_key(ministack: Ministack) -> str:
    key: str = kms_client(ministack).create_key()["KeyMetadata"]["KeyId"]
    return key


@pytest.fixture(params=["local", "kms"])
def make_sealer(request: pytest.FixtureRequest, tmp_path: Path) -> MakeSealer:
    """Makes sealers as other processes would have them."""
    if request.param == "local":
        return lambda: LocalSealer(tmp_path / "seal.key")
    server: Ministack = request.getfixturevalue("ministack")
    key: str = request.getfixturevalue("kms_key")
    return lambda: KmsSealer(key, ManualClock(), lambda: kms_client(server))


@pytest.fixture
def sealer(make_sealer: MakeSealer) -> Sealer:
    return make_sealer()


def kms_client(server: Ministack):  # type: ignore[no-untyped-def]  # boto3 has no types for this service here
    return boto3.Session().client(
        "kms",
        endpoint_url=server.endpoint,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


@kept_sealer
@given(data=st.binary(max_size=200), place=st.builds(Place, st.sampled_from(["acme", "zeta"]), names, names))
async def test_what_was_sealed_comes_back(sealer: Sealer, data: bytes, place: Place) -> None:
    assert await sealer.open(await sealer.seal(data, place), place) == data


async def test_another_process_opens_it(make_sealer: MakeSealer) -> None:
    sealed = await make_sealer().seal(b"a secret", HERE)
    assert await make_sealer().open(sealed, HERE) == b"a secret"


@pytest.mark.parametrize("elsewhere", [{"org": "zeta"}, {"purpose": "own key"}, {"name": "two"}])
async def test_it_opens_nowhere_else(make_sealer: MakeSealer, elsewhere: dict[str, str]) -> None:
    sealed = await make_sealer().seal(b"a secret", HERE)
    for sealer in (make_sealer(), make_sealer()):
        with pytest.raises(StoreUnavailable) as caught:
            await sealer.open(sealed, replace(HERE, **elsewhere))
        assert "a secret" not in str(caught.value) + caught.value.detail


async def test_names_cannot_be_shifted_between_the_parts_of_a_place(sealer: Sealer) -> None:
    sealed = await sealer.seal(b"a secret", Place("acme", "ab", "c"))
    with pytest.raises(StoreUnavailable):
        await sealer.open(sealed, Place("acme", "a", "bc"))


async def test_no_change_goes_unseen(sealer: Sealer) -> None:
    sealed = await sealer.seal(b"a secret", HERE)
    version, key, nonce, data = sealed.split(".")
    other = await sealer.seal(b"a secret", HERE)
    for changed in (
        f"{version}.{key}.{nonce}.{flipped(data)}",
        f"{version}.{key}.{flipped(nonce)}.{data}",
        f"{version}.{flipped(key)}.{nonce}.{data}",
        f"{version}.{key}.{other.split('.')[2]}.{data}",
        f"{version}.{key}.{nonce}.",
        f"s2.{key}.{nonce}.{data}",
        f"{version}.{key}.{nonce[:-1]}.{data}",
        f"{version}.{key}.{nonce}.{data}.{data}",
        f"{version}.ä.{nonce}.{data}",
        "sk-plain",
        "",
    ):
        with pytest.raises(StoreUnavailable) as caught:
            await sealer.open(changed, HERE)
        assert caught.value.code == "store_unavailable"
        assert "Sealing failed" in caught.value.detail


async def test_sealing_twice_never_gives_the_same(sealer: Sealer) -> None:
    assert len({await sealer.seal(b"a secret", HERE) for _ in range(50)}) == 50


async def test_the_sealed_form_is_plain_ascii_without_the_secret(sealer: Sealer) -> None:
    sealed = await sealer.seal(b"sk-canary", HERE)
    assert sealed.isascii()
    assert sealed.isprintable()
    assert "canary" not in sealed


def flipped(part: str) -> str:
    return ("B" if part[0] == "A" else "A") + part[1:]

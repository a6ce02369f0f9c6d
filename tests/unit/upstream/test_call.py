"""One upstream call: what is asked, in which order, and how each way of failing ends."""

import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import httpx
import pytest

from core.catalog.model import Format, Quirk, Target, Vendor
from core.chat import ChatRequest, FinishReason, Usage
from core.errors import (
    AccountFailure,
    GatewayError,
    Interrupted,
    OwnKeyFailure,
    UpstreamFailure,
    UpstreamRejected,
    UpstreamUnavailable,
)
from core.events import Event, Finished, TextDelta, UsageReported
from core.providers.base import Credential, Media, Outgoing, Prepared, RemoteMedia
from core.upstream.call import Caller
from core.upstream.client import LARGEST_ERROR_BODY, UpstreamClient, body_of
from core.waiting import Background
from tests.support.clock import ManualClock, drive, settle
from tests.support.targets import make_target, make_vendor

REQUEST = ChatRequest(model="lab/small", messages=(), written={})


class WordDecoder:
    """Every read is a word; `.` ends the answer, and `;` does too, but more may follow."""

    def __init__(self) -> None:
        self.done = False
        self.is_complete = False
        self.failure: UpstreamFailure | None = None

    def feed(self, data: bytes) -> tuple[Event, ...]:
        if self.failure is not None:
            raise self.failure
        if not data:
            return ()
        if data == b"$":
            return (UsageReported(Usage(input_tokens=3, output_tokens=5)),)
        if data == b"!":
            self.failure = UpstreamFailure("after this word")
        if data in (b".", b";"):
            self.done, self.is_complete = data == b".", True
            return (Finished(0, FinishReason.STOP),)
        return (TextDelta(0, data.decode()),)

    def close(self) -> tuple[Event, ...]:
        if not self.is_complete:
            raise Interrupted("cut")
        return ()


@dataclass
class WordFormat:
    """A wire format small enough to see through."""

    steps: list[str] = field(default_factory=list)

    def needs(self, request: ChatRequest, target: Target) -> tuple[RemoteMedia, ...]:
        self.steps.append("needs")
        return (RemoteMedia("https://example.org/a.png"),)

    def encode(self, request: ChatRequest, target: Target, prepared: Prepared) -> Outgoing:
        self.steps.append(f"encode {prepared.media['https://example.org/a.png'].mime_type}")
        return Outgoing(target, "http://127.0.0.1:9/chat", {"x": "1"}, b"body")

    def sign(self, outgoing: Outgoing, credential: Credential, now: datetime) -> Outgoing:
        self.steps.append(f"sign {credential.key} {now.year}")
        return replace(outgoing, headers={**outgoing.headers, "authorization": "signed"})

    def decoder(self, sent: Outgoing, status: int, headers: Mapping[str, str]) -> WordDecoder:
        self.steps.append(f"decode {status} {headers['content-type']}")
        return WordDecoder()

    def decode_error(
        self, target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime
    ) -> GatewayError:
        return UpstreamFailure("failed", upstream_status=status, detail=body.decode())


class Chunks(httpx.AsyncByteStream):
    """A body that arrives in pieces and may break off."""

    def __init__(self, *pieces: bytes | Exception) -> None:
        self.pieces = pieces
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def aclose(self) -> None:
        self.closed = True


class Transport(httpx.AsyncBaseTransport):
    """Gives one response, or one fault."""

    def __init__(self, status: int, body: Chunks, fault: Exception | None = None) -> None:
        self.status = status
        self.body = body
        self.fault = fault
        self.requests: list[httpx.Request] = []
        self.closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.fault is not None:
            raise self.fault
        return httpx.Response(self.status, headers={"Content-Type": "text/words"}, stream=self.body)

    async def aclose(self) -> None:
        self.closed = True


async def credentials(vendor: Vendor) -> Credential:
    return Credential(key=f"key of {vendor.name}")


async def own_credentials(org: str, vendor: Vendor) -> Credential:
    return Credential(key=f"key of {org} at {vendor.name}")


async def fetch(remote: RemoteMedia) -> Media:
    return Media(b"", "image/png")


METERED: list[tuple[str, Usage | None]] = []
BACKGROUND = Background()
BILLED = make_target(vendor=make_vendor(drains=True))


@pytest.fixture(autouse=True)
def nothing_metered() -> None:
    METERED.clear()


def make_caller(transport: Transport, words: WordFormat | None = None, clock: ManualClock | None = None) -> Caller:
    def provider(format: Format) -> WordFormat:
        return words or WordFormat()

    def metered(target: Target, usage: Usage | None) -> None:
        METERED.append((target.name, usage))

    clock = clock or ManualClock()
    client = UpstreamClient(transport)
    return Caller(provider, client, credentials, own_credentials, fetch, clock, BACKGROUND, metered)


async def call(transport: Transport, words: WordFormat | None = None) -> list[Event]:
    calling = make_caller(transport, words).call(REQUEST, {}, lambda choice, index: "id", make_target())
    return [event async for batch in calling for event in batch]


async def test_a_call_goes_from_needs_to_the_last_event() -> None:
    transport, words = Transport(200, Chunks(b"Hello", b" you", b".")), WordFormat()
    assert await call(transport, words) == [
        TextDelta(0, "Hello"),
        TextDelta(0, " you"),
        Finished(0, FinishReason.STOP),
    ]
    assert words.steps == ["needs", "encode image/png", "sign key of lab 2026", "decode 200 text/words"]
    request = transport.requests[0]
    assert (request.method, request.headers["authorization"], request.content) == ("POST", "signed", b"body")
    assert transport.body.closed


@pytest.mark.parametrize(("quirks", "expected"), [((), "keep-alive"), ((Quirk.CLOSES_CONNECTIONS,), "close")])
async def test_a_host_that_closes_its_connections_is_asked_for_a_new_one(
    quirks: tuple[Quirk, ...], expected: str
) -> None:
    transport = Transport(200, Chunks(b"."))
    target = make_target(vendor=make_vendor(quirks=frozenset(quirks)))
    async for _ in make_caller(transport).call(REQUEST, {}, lambda choice, index: "id", target):
        pass
    assert transport.requests[0].headers.get("connection", "keep-alive") == expected


async def test_nothing_is_read_after_the_terminal_event() -> None:
    transport = Transport(200, Chunks(b"Hi", b".", AssertionError("read on")))
    assert len(await call(transport)) == 2


async def test_a_failure_that_came_with_events_is_raised_without_waiting_for_more_bytes() -> None:
    transport = Transport(200, Chunks(b"!", AssertionError("read on")))
    with pytest.raises(UpstreamFailure, match="after this word"):
        await call(transport)


async def test_an_end_without_a_terminal_event_is_interrupted() -> None:
    transport = Transport(200, Chunks(b"Hi"))
    with pytest.raises(Interrupted):
        await call(transport)
    assert transport.body.closed


async def test_another_status_is_the_formats_to_explain_from_a_bounded_body() -> None:
    transport = Transport(503, Chunks(b"x" * LARGEST_ERROR_BODY, b"y", AssertionError("read on")))
    with pytest.raises(UpstreamFailure) as failure:
        await call(transport)
    assert failure.value.upstream_status == 503
    assert len(failure.value.detail) == LARGEST_ERROR_BODY
    assert transport.body.closed


async def test_a_short_error_body_is_read_whole() -> None:
    with pytest.raises(UpstreamFailure) as failure:
        await call(Transport(302, Chunks(b"moved")))
    assert (failure.value.upstream_status, failure.value.detail) == (302, "moved")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (httpx.ConnectError("refused"), UpstreamUnavailable),
        (httpx.ConnectTimeout("slow"), UpstreamUnavailable),
        (httpx.PoolTimeout("full"), UpstreamUnavailable),
        (ssl.SSLError("certificate"), UpstreamUnavailable),
        (OSError("no route"), UpstreamUnavailable),
        (httpx.UnsupportedProtocol("gopher"), UpstreamUnavailable),
    ],
)
async def test_a_host_that_cannot_be_reached_is_unavailable(fault: Exception, expected: type[UpstreamFailure]) -> None:
    with pytest.raises(expected) as failure:
        await call(Transport(200, Chunks(), fault))
    assert type(fault).__name__ in failure.value.detail


@pytest.mark.parametrize("kind", [httpx.LocalProtocolError, httpx.RemoteProtocolError])
async def test_what_breaks_the_protocol_is_not_quoted(kind: type[httpx.ProtocolError]) -> None:
    with pytest.raises(UpstreamFailure) as failure:
        await call(Transport(200, Chunks(), kind("Illegal header value b'Bearer sk-1'")))
    assert failure.value.detail == kind.__name__


@pytest.mark.parametrize("drains", [True, False])
@pytest.mark.parametrize("fault", [httpx.ReadError("reset"), httpx.RemoteProtocolError("cut")])
class TestBrokenBodies:
    async def test_an_answer_that_was_not_complete_is_interrupted(self, fault: Exception, drains: bool) -> None:
        transport = Transport(200, Chunks(b"Hi", fault))
        target = BILLED if drains else make_target()
        with pytest.raises(Interrupted) as failure:
            [_ async for _ in make_caller(transport).call(REQUEST, {}, lambda choice, index: "id", target)]
        assert type(fault).__name__ in failure.value.detail
        await BACKGROUND.idle()
        assert (transport.body.closed, METERED) == (True, [])

    async def test_an_answer_that_had_its_end_is_a_good_one(self, fault: Exception, drains: bool) -> None:
        transport = Transport(200, Chunks(b"Hi", b";", fault))
        target = BILLED if drains else make_target()
        calling = make_caller(transport).call(REQUEST, {}, lambda choice, index: "id", target)
        events = [event async for batch in calling for event in batch]
        assert events == [TextDelta(0, "Hi"), Finished(0, FinishReason.STOP)]
        await BACKGROUND.idle()
        assert (transport.body.closed, METERED) == (True, [])


async def test_a_fault_that_is_not_the_transports_stays_what_it_is() -> None:
    with pytest.raises(KeyError):
        await call(Transport(200, Chunks(b"Hi", KeyError("bug"))))


async def test_without_a_credential_nothing_is_sent() -> None:
    async def none(vendor: Vendor) -> Credential:
        raise AccountFailure("no key")

    transport = Transport(200, Chunks())
    caller = replace(make_caller(transport), credentials=none)
    with pytest.raises(AccountFailure):
        await anext(caller.call(REQUEST, {}, lambda choice, index: "id", make_target()))
    assert transport.requests == []


class TestDraining:
    async def call_and_leave(self, transport: Transport, clock: ManualClock | None = None) -> None:
        calling = make_caller(transport, clock=clock).call(REQUEST, {}, lambda choice, index: "id", BILLED)
        assert await anext(calling) == (TextDelta(0, "Hi"),)
        await calling.aclose()

    async def test_a_complete_call_is_like_any_other(self) -> None:
        transport = Transport(200, Chunks(b"Hi", b"$", b"."))
        calling = make_caller(transport).call(REQUEST, {}, lambda choice, index: "id", BILLED)
        assert len([event async for batch in calling for event in batch]) == 3
        await BACKGROUND.idle()
        assert transport.body.closed
        assert METERED == []

    async def test_one_that_ends_early_is_interrupted_like_any_other(self) -> None:
        calling = make_caller(Transport(200, Chunks(b"Hi"))).call(REQUEST, {}, lambda choice, index: "id", BILLED)
        with pytest.raises(Interrupted):
            [batch async for batch in calling]
        await BACKGROUND.idle()
        assert METERED == []

    async def test_an_abandoned_call_is_read_out_and_metered(self) -> None:
        transport = Transport(200, Chunks(b"Hi", b" there", b"$", b".", AssertionError("read on")))
        await self.call_and_leave(transport)
        assert not transport.body.closed
        await settle()
        assert [("lab/lab/small", Usage(input_tokens=3, output_tokens=5))] == METERED
        assert transport.body.closed

    async def test_one_that_ends_without_its_terminal_event_is_metered_for_what_it_told(self) -> None:
        transport = Transport(200, Chunks(b"Hi", b"$"))
        await self.call_and_leave(transport)
        await BACKGROUND.idle()
        assert [("lab/lab/small", Usage(input_tokens=3, output_tokens=5))] == METERED

    async def test_one_that_breaks_is_metered_for_what_it_told(self) -> None:
        transport = Transport(200, Chunks(b"Hi", httpx.ReadError("reset")))
        await self.call_and_leave(transport)
        await BACKGROUND.idle()
        assert METERED == [("lab/lab/small", None)]
        assert transport.body.closed

    async def test_one_that_never_ends_is_given_up(self) -> None:
        clock = ManualClock()

        class Endless(Chunks):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                yield b"Hi"
                while True:
                    await clock.sleep_until(clock.monotonic() + 10)
                    yield b"more"

        transport = Transport(200, Endless())
        await self.call_and_leave(transport, clock)
        await drive(clock, BACKGROUND.idle())
        assert METERED == [("lab/lab/small", None)]
        assert transport.body.closed
        assert clock.monotonic() == 300.0

    async def test_a_failure_in_band_is_no_reason_to_read_on(self) -> None:
        transport = Transport(200, Chunks(httpx.ReadError("reset")))
        calling = make_caller(transport).call(REQUEST, {}, lambda choice, index: "id", BILLED)
        with pytest.raises(Interrupted):
            await anext(calling)
        await BACKGROUND.idle()
        assert METERED == []
        assert transport.body.closed


async def test_closing_the_client_closes_the_transport() -> None:
    transport = Transport(200, Chunks())
    await UpstreamClient(transport).close()
    assert transport.closed


def test_a_blocking_body_is_a_mistake_of_ours() -> None:
    class Blocking(httpx.SyncByteStream):
        pass

    with pytest.raises(TypeError):
        body_of(httpx.Response(200, stream=Blocking()))


OWNED = replace(make_target(), owner="acme")


async def test_a_call_on_an_own_account_is_signed_with_its_key() -> None:
    words = WordFormat()
    calling = make_caller(Transport(200, Chunks(b".")), words).call(REQUEST, {}, lambda choice, index: "id", OWNED)
    async for _ in calling:
        pass
    assert "sign key of acme at lab 2026" in words.steps


@pytest.mark.parametrize("target", [OWNED, make_target()])
async def test_the_failure_of_an_own_account_is_that_of_its_key(target: Target) -> None:
    class Refusing(WordFormat):
        def decode_error(
            self, target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime
        ) -> GatewayError:
            return AccountFailure("no access", upstream_status=status, upstream_code="x", detail="refused")

    calling = make_caller(Transport(401, Chunks(b"")), Refusing()).call(REQUEST, {}, lambda choice, index: "id", target)
    with pytest.raises(AccountFailure) as caught:
        async for _ in calling:
            pass
    assert isinstance(caught.value, OwnKeyFailure) is (target is OWNED)
    assert (caught.value.upstream_status, caught.value.upstream_code, caught.value.detail) == (401, "x", "refused")
    assert ("own key" in caught.value.message) is (target is OWNED)
    assert "lab" not in caught.value.message


@pytest.mark.parametrize("target", [OWNED, make_target()])
async def test_a_credential_that_cannot_be_put_on_a_call_is_the_accounts_failure(target: Target) -> None:
    class Unsendable(WordFormat):
        def sign(self, outgoing: Outgoing, credential: Credential, now: datetime) -> Outgoing:
            raise AccountFailure("no access", detail="no header can hold it")

    transport = Transport(200, Chunks(b"."))
    calling = make_caller(transport, Unsendable()).call(REQUEST, {}, lambda choice, index: "id", target)
    with pytest.raises(AccountFailure) as caught:
        await anext(calling)
    assert isinstance(caught.value, OwnKeyFailure) is (target is OWNED)
    assert transport.requests == []


async def test_a_host_that_repeats_the_key_is_not_quoted() -> None:
    class Repeating(WordFormat):
        def decode_error(
            self, target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime
        ) -> GatewayError:
            return UpstreamRejected("I do not like the key of lab.")

    calling = make_caller(Transport(400, Chunks(b"")), Repeating()).call(
        REQUEST, {}, lambda choice, index: "id", make_target()
    )
    with pytest.raises(UpstreamRejected) as caught:
        async for _ in calling:
            pass
    assert "key of lab" not in caught.value.message

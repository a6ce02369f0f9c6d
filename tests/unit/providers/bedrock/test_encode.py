"""The body, address, headers and signature of a call."""

from datetime import UTC, datetime
from typing import Any

import botocore.auth
import httpx
import orjson
import pytest
import yarl
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from core.catalog.model import Abilities, Auth, Format, StructuredOutput, Target, ThinkingSwitch
from core.chat import ChatRequest
from core.errors import InvalidRequest
from core.providers.base import Credential, Outgoing, Prepared, RemoteMedia
from core.providers.bedrock import BedrockFormat
from core.providers.bedrock.encode import encode_body
from core.providers.fields import Disposed
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

FORMAT = BedrockFormat()
ADDRESS = "https://bedrock-runtime.eu-central-1.amazonaws.com"
ARN = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.lab.small-v1:0"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SCHEMA = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"default": None}}}


def target(model: str = "lab.small-v1:0", host: dict[str, Any] | None = None, **vendor: Any) -> Target:
    plain: dict[str, Any] = {"format": Format.BEDROCK, "base_url": ADDRESS, "auth": Auth.SIGV4, **vendor}
    return make_target(
        model,
        vendor=make_vendor(**{"region": "eu-central-1", **plain}),
        abilities=Abilities(tools=True, vision=True, structured_output=StructuredOutput.VERIFIED),
        **(host or {}),
    )


def sent(request: ChatRequest, to: Target | None = None) -> Outgoing:
    return FORMAT.encode(request, to or target(), Prepared())


def body(request: ChatRequest, to: Target | None = None) -> dict[str, Any]:
    parsed: dict[str, Any] = orjson.loads(sent(request, to).body)
    return parsed


def test_the_smallest_request() -> None:
    assert body(ask("Hi.")) == {"messages": [{"role": "user", "content": [{"text": "Hi."}]}]}


def test_address_and_headers() -> None:
    outgoing = sent(ask(), target(base_url=f"{ADDRESS}/", headers={"x-title": "t"}))
    assert outgoing.method == "POST"
    assert outgoing.url == f"{ADDRESS}/model/lab.small-v1:0/converse-stream"
    assert outgoing.headers == {
        "content-type": "application/json",
        "accept": "application/vnd.amazon.eventstream",
        "accept-encoding": "identity",
        "x-title": "t",
    }


def test_an_arn_is_one_step_of_the_path() -> None:
    path = sent(ask(), target(ARN)).url.removeprefix(ADDRESS)
    assert path == f"/model/{ARN.replace('/', '%2F')}/converse-stream"


@pytest.mark.parametrize("model", ["lab.small-v1:0", ARN, "a b%é"])
def test_no_transport_changes_what_was_signed(model: str) -> None:
    url = sent(ask(), target(model)).url
    assert str(httpx.URL(url)) == url
    assert str(yarl.URL(url)) == url


def test_sampling_has_a_place_of_its_own() -> None:
    request = ask(temperature=0.5, top_p=0.9, stop=["a", "b"], max_completion_tokens=7)
    assert body(request)["inferenceConfig"] == {
        "maxTokens": 7,
        "temperature": 0.5,
        "topP": 0.9,
        "stopSequences": ["a", "b"],
    }


def test_temperatures_end_at_one() -> None:
    assert body(ask(temperature=1.7))["inferenceConfig"] == {"temperature": 1}


def test_what_a_host_refuses_stays_behind() -> None:
    refusing = target(host={"refuses": frozenset({"temperature", "top_p"})})
    assert "inferenceConfig" not in body(ask(temperature=0.5, top_p=0.5), refusing)


def test_what_cannot_be_left_out_is_refused() -> None:
    with pytest.raises(InvalidRequest) as caught:
        sent(ask(n=2))
    assert (caught.value.param, caught.value.code) == ("n", "unsupported_parameter")


@pytest.mark.parametrize(
    ("tier", "said"),
    [("auto", None), ("default", "default"), ("flex", "flex"), ("priority", "priority"), ("scale", None)],
)
def test_service_tiers(tier: str, said: str | None) -> None:
    assert body(ask(service_tier=tier)).get("serviceTier") == (said and {"type": said})


def test_metadata_is_for_the_hosts_own_records() -> None:
    assert body(ask(metadata={"team": "a b"}))["requestMetadata"] == {"team": "a b"}
    assert "requestMetadata" not in body(ask(metadata={"team": "ä"}))
    assert "requestMetadata" not in body(ask(metadata={}))


def test_a_schema_goes_as_it_was_written_in_a_string() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "description": "d", "schema": SCHEMA}}
    text_format = body(ask(response_format=wanted))["outputConfig"]["textFormat"]
    shape = text_format["structure"]["jsonSchema"]
    assert text_format["type"] == "json_schema"
    assert shape == {"schema": orjson.dumps(SCHEMA).decode(), "name": "n", "description": "d"}


def test_names_of_schemas_can_stay_behind() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "description": "d", "schema": SCHEMA}}
    names = {"response_format.json_schema.name", "response_format.json_schema.description"}
    refusing = target(host={"refuses": frozenset(names)})
    shape = body(ask(response_format=wanted), refusing)["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
    assert set(shape) == {"schema"}


@pytest.mark.parametrize(
    "wanted", [{"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "n"}}], ids=["object", "schema"]
)
def test_json_without_a_schema_is_asked_for_in_words(wanted: dict[str, Any]) -> None:
    made = body(ask("Answer in JSON.", response_format=wanted))
    (told,) = made["system"]
    assert "JSON" in told["text"]
    assert "outputConfig" not in made


def test_text_is_what_happens_anyway() -> None:
    assert set(body(ask(response_format={"type": "text"}))) == {"messages"}


def test_nothing_is_asked_for_that_is_not_to_be_sent() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    disposed = Disposed(frozenset(), (), ())
    made, _ = encode_body(ask(response_format=wanted, max_tokens=3), target(), Prepared(), disposed)
    assert set(made) == {"messages"}


def test_a_hosts_own_members_are_added_at_any_depth() -> None:
    options = {
        "guardrailConfig": {"guardrailIdentifier": "g", "guardrailVersion": "1"},
        "inferenceConfig": {"maxTokens": 9},
        "additionalModelRequestFields": {"top_k": 3},
    }
    host = {"options": options, "thinking_switch": ThinkingSwitch.REASONING_EFFORT}
    made = body(ask(temperature=0.5, max_tokens=5), target(host=host))
    assert made["guardrailConfig"] == options["guardrailConfig"]
    assert made["inferenceConfig"] == {"maxTokens": 9, "temperature": 0.5}
    assert made["additionalModelRequestFields"] == {"top_k": 3}


def test_everything_that_is_named_by_address_must_be_fetched() -> None:
    parts = [
        {"type": "text", "text": "?"},
        {"type": "image_url", "image_url": {"url": "https://a/b.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://a/b.png"}},
        {"type": "file", "file": {"file_data": "https://a/c.pdf"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]
    assert FORMAT.needs(ask([{"role": "user", "content": parts}]), target()) == (
        RemoteMedia("https://a/b.png", "messages[0].content[1].image_url.url"),
        RemoteMedia("https://a/c.pdf", "messages[0].content[4].file.file_data"),
    )


def test_a_bedrock_key_is_a_bearer() -> None:
    signed = FORMAT.sign(sent(ask()), Credential(key="k"), NOW)
    assert signed.headers["authorization"] == "Bearer k"


@pytest.mark.parametrize("token", [None, "token/+="])
@pytest.mark.parametrize("model", ["lab.small-v1:0", ARN])
def test_botocore_signs_the_same_call_the_same(model: str, token: str | None) -> None:
    outgoing = sent(ask("Grüße."), target(model))
    credential = Credential(access_key="AKIDEXAMPLE", secret_key="wJalr/KEY", session_token=token)
    signed = FORMAT.sign(outgoing, credential, NOW)
    assert signed.headers["authorization"] == botocore_authorization(outgoing, token)
    assert signed.headers["x-amz-date"] == "20261130T120000Z"
    assert signed.headers.get("x-amz-security-token") == token
    assert (signed.url, signed.body) == (outgoing.url, outgoing.body)


def botocore_authorization(outgoing: Outgoing, token: str | None) -> str:
    """What botocore's signer says of the call, at the test's time."""
    signer = botocore.auth.SigV4Auth(Credentials("AKIDEXAMPLE", "wJalr/KEY", token), "bedrock", "eu-central-1")
    request = AWSRequest("POST", outgoing.url, dict(outgoing.headers), outgoing.body)
    timestamp = f"{NOW:%Y%m%dT%H%M%SZ}"
    request.context["timestamp"] = timestamp
    request.headers["X-Amz-Date"] = timestamp
    if token is not None:
        request.headers["X-Amz-Security-Token"] = token
    text = signer.string_to_sign(request, signer.canonical_request(request))
    names = signer.signed_headers(signer.headers_to_sign(request))
    return (
        f"AWS4-HMAC-SHA256 Credential={signer.scope(request)}, "
        f"SignedHeaders={names}, Signature={signer.signature(text, request)}"
    )

"""Signatures against AWS's published examples and against botocore."""

from datetime import UTC, datetime, timedelta, timezone
from typing import TypedDict
from urllib.parse import quote

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from core.providers.sigv4 import sign

NOW = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
CONVERSE = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse-stream"


ORIGINS = [
    "https://Bedrock-Runtime.eu-west-1.amazonaws.com",
    "https://a.b:443",
    "https://a.b:8443",
    "http://localhost:80",
    "http://127.0.0.1:4566",
    "http://[::1]:443",
]


class Signing(TypedDict):
    access_key: str
    secret_key: str
    session_token: str | None
    region: str
    service: str
    now: datetime


def signing(service: str = "service", token: str | None = None, now: datetime = NOW) -> Signing:
    return Signing(
        access_key="AKIDEXAMPLE",
        secret_key="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        session_token=token,
        region="us-east-1",
        service=service,
        now=now,
    )


class Botocore(botocore.auth.SigV4Auth):
    """botocore's signer at the test's time instead of the machine's."""

    def authorization(self, request: AWSRequest, by: Signing) -> str:
        timestamp = by["now"].strftime("%Y%m%dT%H%M%SZ")
        request.context["timestamp"] = timestamp
        request.headers["X-Amz-Date"] = timestamp
        if by["session_token"] is not None:
            request.headers["X-Amz-Security-Token"] = by["session_token"]
        text = self.string_to_sign(request, self.canonical_request(request))
        names = self.signed_headers(self.headers_to_sign(request))
        return (
            f"AWS4-HMAC-SHA256 Credential={self.scope(request)}, "
            f"SignedHeaders={names}, Signature={self.signature(text, request)}"
        )


def botocore_signs(method: str, url: str, headers: dict[str, str], body: bytes, by: Signing) -> str:
    credentials = Credentials(by["access_key"], by["secret_key"], by["session_token"])
    request = AWSRequest(method=method, url=url, headers=headers, data=body)
    return Botocore(credentials, by["service"], by["region"]).authorization(request, by)


@pytest.mark.parametrize(
    ("method", "url", "headers", "service", "signature"),
    [
        pytest.param(
            "GET",
            "https://example.amazonaws.com/",
            {},
            "service",
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            id="get-vanilla",
        ),
        pytest.param(
            "POST",
            "https://example.amazonaws.com/",
            {},
            "service",
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            id="post-vanilla",
        ),
        pytest.param(
            "GET",
            "https://example.amazonaws.com/?Param2=value2&Param1=value1",
            {},
            "service",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            id="get-vanilla-query-order-key-case",
        ),
        pytest.param(
            "GET",
            "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
            {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
            "iam",
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
            id="documentation-list-users",
        ),
    ],
)
def test_published_examples(method: str, url: str, headers: dict[str, str], service: str, signature: str) -> None:
    signed = sign(method, url, headers, b"", **signing(service))
    assert signed["x-amz-date"] == "20150830T123600Z"
    names = "content-type;host;x-amz-date" if headers else "host;x-amz-date"
    assert signed["authorization"] == (
        f"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/{service}/aws4_request, "
        f"SignedHeaders={names}, Signature={signature}"
    )


model_ids = st.one_of(
    st.text("abz019.-_:/~+ %äÖ🌊", min_size=1, max_size=30).filter(lambda t: t.strip(".")),
    st.just("arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.anthropic.claude-v1:0"),
)
words = st.text("ab:/?#[]@ !$&'()*+,;=%~-._ä🌊", max_size=8)
queries = st.lists(st.tuples(words.filter(bool), words), max_size=4)
values = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
# Names compare without case, so each is drawn once.
header_maps = st.dictionaries(
    st.sampled_from(["Content-Type", "accept", "X-Amzn-Bedrock-Trace", "Host", "User-Agent", "Connection"]),
    values,
)


@given(
    st.sampled_from(["GET", "post"]),
    st.sampled_from(ORIGINS),
    model_ids,
    queries,
    header_maps,
    st.binary(max_size=50),
    st.one_of(st.none(), st.text("abc/+=", min_size=1, max_size=20)),
    st.datetimes(datetime(2015, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC)),
)
def test_agrees_with_botocore(
    method: str,
    origin: str,
    model: str,
    query: list[tuple[str, str]],
    headers: dict[str, str],
    body: bytes,
    token: str | None,
    now: datetime,
) -> None:
    pairs = "&".join(f"{quote(k, safe='')}={quote(v, safe='')}" for k, v in query)
    url = f"{origin}/model/{quote(model, safe='')}/converse-stream" + (f"?{pairs}" if pairs else "")
    by = signing("bedrock", token, now)
    signed = sign(method, url, headers, body, **by)
    assert signed["authorization"] == botocore_signs(method, url, headers, body, by)
    assert signed.get("x-amz-security-token") == token
    assert set(signed) <= {"authorization", "x-amz-date", "x-amz-security-token"}


@pytest.mark.parametrize("path", ["", "/", "/a//b/", "/./a/../b", "/..", "/a/.", "//", "/a/b/../", "/%2e%2E/%7Ea~"])
def test_paths_are_normalised_as_botocore_does(path: str) -> None:
    url = f"https://bedrock.example{path}"
    ours = sign("GET", url, {}, b"", **signing())["authorization"]
    assert ours == botocore_signs("GET", url, {}, b"", signing())


def test_the_time_of_signing_is_taken_in_utc_and_needs_a_zone() -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert sign("GET", CONVERSE, {}, b"", **signing(now=elsewhere)) == sign("GET", CONVERSE, {}, b"", **signing())
    with pytest.raises(ValueError, match="time zone"):
        sign("GET", CONVERSE, {}, b"", **signing(now=NOW.replace(tzinfo=None)))


def test_signing_again_does_not_sign_the_earlier_signature() -> None:
    first = sign("POST", CONVERSE, {"Accept": "a"}, b"{}", **signing(token="t"))
    earlier = {"Accept": "a", **{name.title(): value for name, value in first.items()}}
    assert sign("POST", CONVERSE, earlier, b"{}", **signing(token="t")) == first


def test_an_empty_token_is_none() -> None:
    assert sign("GET", CONVERSE, {}, b"", **signing(token="")) == sign("GET", CONVERSE, {}, b"", **signing())


def test_repeated_headers_and_spaces_are_signed_in_canonical_form() -> None:
    spread = sign("GET", CONVERSE, {"X-A": "  1   2 ", "x-a": "3"}, b"", **signing())
    assert spread == sign("GET", CONVERSE, {"x-a": "1 2,3"}, b"", **signing())


@pytest.mark.parametrize("query", ["a=%c3%a4&b=", "b&&a=ä", "&a=%C3%A4&b"])
def test_a_query_is_signed_the_way_the_service_encodes_it(query: str) -> None:
    canonical = sign("GET", f"{CONVERSE}?a=%C3%A4&b=", {}, b"", **signing())
    assert sign("GET", f"{CONVERSE}?{query}", {}, b"", **signing()) == canonical


def test_a_url_without_a_host_is_refused() -> None:
    with pytest.raises(ValueError, match="host"):
        sign("GET", "/model/m/converse", {}, b"", **signing())

"""What a vendor's front door refuses: a missing or wrong key, an AWS signature that botocore would not have made."""

import re

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from core.catalog.model import Auth
from tests.support.script import Received
from tests.support.vendors.rows import Row

AWS = Credentials("AKIATEST", "the-secret-key", "the-session-token")
"""The process's AWS credentials in tests."""

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": AWS.access_key,
    "AWS_SECRET_ACCESS_KEY": AWS.secret_key,
    "AWS_SESSION_TOKEN": AWS.token or "",
}

_HEADERS = {Auth.X_API_KEY: "x-api-key", Auth.API_KEY: "api-key", Auth.GOOGLE: "x-goog-api-key"}
_SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>\S+)/(?P<day>\d{8})/(?P<region>[a-z0-9-]+)/bedrock/aws4_request, "
    r"SignedHeaders=(?P<names>[a-z0-9;-]+), Signature=(?P<signature>[0-9a-f]{64})"
)
_CREDENTIAL_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "x-goog-api-key"})


def credential_problem(row: Row, request: Received) -> str | None:
    """Why the call is not let in; None when it is."""
    vendor = row.target.vendor
    there = _CREDENTIAL_HEADERS & request.headers.keys()
    if vendor.auth is Auth.NONE:
        return f"no credential is wanted, and {there} came" if there else None
    if vendor.auth is Auth.SIGV4 and row.key is None:
        return _signature_problem(row, request)
    name = _HEADERS.get(vendor.auth, "authorization")
    wanted = f"Bearer {row.key}" if name == "authorization" else row.key
    if there != {name} or request.headers[name] != wanted:
        return f"the key is wanted in {name}, and {there} came"
    return None


def _signature_problem(row: Row, request: Received) -> str | None:
    found = _SIGNED.fullmatch(request.headers.get("authorization", ""))
    if found is None:
        return "the call is not signed"
    if (found["key"], found["region"]) != (AWS.access_key, row.target.vendor.region):
        return "the signature is another account's or region's"
    names = found["names"].split(";")
    if not {"host", "x-amz-date", "x-amz-security-token"} <= set(names):
        return f"headers that must be signed are not: {names}"
    signed = AWSRequest(
        method=request.method,
        url=f"http://{request.headers['host']}{request.path}",
        headers={name: request.headers[name] for name in names},
        data=request.body,
    )
    signed.context["timestamp"] = request.headers["x-amz-date"]
    signer = SigV4Auth(AWS, "bedrock", found["region"])
    text = signer.string_to_sign(signed, signer.canonical_request(signed))
    if signer.signature(text, signed) != found["signature"]:
        return "The request signature we calculated does not match the signature you provided"
    return None

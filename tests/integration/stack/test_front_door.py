"""What API Gateway says by itself: in the gateway's envelope, to the caller and in the log."""

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.support.stack import Stack

# What API Gateway may be asked to put into a response or a log line. Its error messages are not
# among it: for a malformed Authorization header they quote the header.
HARMLESS = {
    "$context.requestId",
    "$context.requestTimeEpoch",
    "$context.httpMethod",
    "$context.path",
    "$context.status",
    "$context.responseLength",
    "$context.responseLatency",
    "$context.integrationLatency",
    "$context.integration.status",
    "$context.integration.requestId",
    "$context.error.responseType",
    "$context.identity.sourceIp",
}
VARIABLE = re.compile(r"\$[A-Za-z][\w.]*")

# Status -> the types of the contract's error table.
TYPES = {
    None: "invalid_request_error",
    "401": "authentication_error",
    "403": "permission_error",
    "404": "not_found_error",
    "413": "invalid_request_error",
    "429": "rate_limit_error",
    "500": "internal_error",
    "504": "timeout_error",
}


def answers(stack: Stack) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    body = stack.only("AWS::ApiGateway::RestApi")["Properties"]["Body"]
    for kind, answer in body["x-amazon-apigateway-gateway-responses"].items():
        assert list(answer["responseTemplates"]) == ["application/json"]
        text = answer["responseTemplates"]["application/json"]
        yield kind, answer, json.loads(text)


def test_every_answer_is_in_the_envelope(stack: Stack) -> None:
    for kind, answer, body in answers(stack):
        assert set(body) == {"error", "request_id"}, kind
        assert body["request_id"] == "$context.requestId", kind
        assert set(body["error"]) == {"message", "type", "param", "code"}, kind
        assert body["error"]["param"] is None, kind
        assert body["error"]["type"] == TYPES[answer.get("statusCode")], kind


def test_what_callers_meet_is_answered_with_the_contracts_code(stack: Stack) -> None:
    found = {kind: (answer.get("statusCode"), body["error"]["code"]) for kind, answer, body in answers(stack)}
    expected = {
        "THROTTLED": ("429", "rate_limited"),
        "REQUEST_TOO_LARGE": ("413", "request_too_large"),
        "MISSING_AUTHENTICATION_TOKEN": ("404", "endpoint_not_found"),
        "RESOURCE_NOT_FOUND": ("404", "endpoint_not_found"),
        "UNAUTHORIZED": ("401", "invalid_api_key"),
        "INTEGRATION_TIMEOUT": ("504", "deadline_exceeded"),
        "DEFAULT_5XX": ("500", "internal_error"),
        # No status: each kind keeps its own.
        "DEFAULT_4XX": (None, "invalid_value"),
    }
    assert expected.items() <= found.items()


def test_an_answer_says_when_to_try_again(stack: Stack) -> None:
    for kind, answer, _ in answers(stack):
        headers = answer["responseParameters"]
        assert headers["gatewayresponse.header.x-request-id"] == "context.requestId", kind
        final = headers.get("gatewayresponse.header.x-should-retry") == "'false'"
        may_pass = kind in {"THROTTLED", "DEFAULT_5XX", "INTEGRATION_TIMEOUT"}
        assert final is not may_pass, kind
        assert ("gatewayresponse.header.Retry-After" in headers) is (kind == "THROTTLED")


def test_no_answer_and_no_log_line_can_hold_a_key(stack: Stack) -> None:
    stage = stack.only("AWS::ApiGateway::Stage")["Properties"]
    texts = [stage["AccessLogSetting"]["Format"]]
    for _, answer, _ in answers(stack):
        texts += [json.dumps(answer)]
    assert {name for text in texts for name in VARIABLE.findall(text)} <= HARMLESS


def test_a_log_line_is_one_json_object_that_finds_the_request(stack: Stack) -> None:
    stage = stack.only("AWS::ApiGateway::Stage")["Properties"]
    line = stage["AccessLogSetting"]["Format"]
    assert "\n" not in line
    fields = json.loads(line)
    assert {"request_id", "status", "ms", "path", "failure"} <= fields.keys()
    assert stage["AccessLogSetting"]["DestinationArn"]["Fn::Sub"].endswith("${AccessLogGroup}")


def test_whole_requests_are_never_logged(stack: Stack) -> None:
    (settings,) = stack.only("AWS::ApiGateway::Stage")["Properties"]["MethodSettings"]
    assert settings["DataTraceEnabled"] is False
    assert settings["LoggingLevel"] == "OFF"


def test_every_path_is_throttled(stack: Stack) -> None:
    (settings,) = stack.only("AWS::ApiGateway::Stage")["Properties"]["MethodSettings"]
    assert (settings["ResourcePath"], settings["HttpMethod"]) == ("/*", "*")
    assert settings["ThrottlingRateLimit"] == {"Ref": "ThrottleRate"}
    assert settings["ThrottlingBurstLimit"] == {"Ref": "ThrottleBurst"}


def test_callers_are_let_in_by_their_address_and_a_change_is_deployed(stack: Stack, narrow: Stack) -> None:
    deployments: set[str] = set()
    for transformed, ranges in ((stack, "0.0.0.0/0,::/0"), (narrow, "192.0.2.0/24,2001:db8::/32")):
        policy = transformed.only("AWS::ApiGateway::RestApi")["Properties"]["Body"]["x-amazon-apigateway-policy"]
        (statement,) = policy["Statement"]
        assert (statement["Effect"], statement["Principal"]) == ("Allow", "*")
        # A list, also where the transform puts the parameter's value in.
        assert statement["Condition"] == {"IpAddress": {"aws:SourceIp": {"Fn::Split": [",", ranges]}}}
        deployments |= transformed.of_type("AWS::ApiGateway::Deployment").keys()
    # API Gateway keeps to a policy from the next deployment on.
    assert len(deployments) == 2


def test_the_stage_waits_for_the_role_that_its_log_needs(stack: Stack) -> None:
    stage = stack.only("AWS::ApiGateway::Stage")["Properties"]
    assert {"Ref": "ApiGatewayAccount"} in stage["Variables"]["LogRole"]["Fn::If"]
    assert stack.only("AWS::ApiGateway::Account")["DeletionPolicy"] == "Retain"

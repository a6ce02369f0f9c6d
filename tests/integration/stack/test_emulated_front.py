"""What the emulated front answers by itself is what the template has API Gateway answer."""

import json

import pytest

from functions.local.emulator import gateway_answers
from functions.local.emulator.gateway_answers import GatewayAnswer
from tests.support.stack import Stack

ANSWERS = {name: each for name, each in vars(gateway_answers).items() if isinstance(each, GatewayAnswer)}


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_refusal_has_the_words_and_headers_of_the_template(source: Stack, name: str) -> None:
    answer = ANSWERS[name]
    written = source.template["Resources"]["GatewayApi"]["Properties"]["GatewayResponses"][name]
    template = written["ResponseTemplates"]["application/json"].replace("$context.requestId", "r-1")
    assert json.loads(answer.body("r-1")) == json.loads(template)
    assert answer.status == int(written["StatusCode"])
    headers = {
        header.lower(): "r-1" if value == "context.requestId" else value.strip("'")
        for header, value in written["ResponseParameters"]["Headers"].items()
    }
    assert {header.lower(): value for header, value in answer.headers("r-1")} == headers

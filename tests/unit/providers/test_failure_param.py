import pytest

from core.providers.failure_param import caller_param
from tests.support.targets import make_target, make_vendor

TARGET = make_target(vendor=make_vendor(renames={"seed": "random_seed"}))


@pytest.mark.parametrize(
    "path", ["n", "messages", "messages.0.role", "messages[1].content[0].image_url", "tools[0].function.parameters"]
)
def test_paths_of_the_request_are_told(path: str) -> None:
    assert caller_param(path, TARGET) == path


def test_a_renamed_field_gets_its_own_name_back() -> None:
    assert caller_param("random_seed", TARGET) == "seed"


@pytest.mark.parametrize(
    "said",
    [
        *(None, "", "n ", "n\n", ".n", "n.", "n..a", "messages[-1]", "messages[0", "my prompt", "x" * 201),
        *("openai_field", "api_key", "provider.openai", "body.n", "max_new_tokens"),
        *("metadata.sk-proj-abcDEF1234", "metadata.sk_projabcDEF1234", "metadata.openai", "metadata.vllm_x"),
        "metadata.0123456789abcdef0123456789abcdef",
    ],
)
def test_anything_else_is_not(said: str | None) -> None:
    assert caller_param(said, TARGET) is None

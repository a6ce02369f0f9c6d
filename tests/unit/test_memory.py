"""What is kept of an assistant turn with tool calls."""

from core.chat import Choice, SealedThinking, ToolCall
from core.memory import tool_turn
from core.ports import ToolTurn
from tests.support.targets import make_target


def test_a_turn_keeps_what_its_host_wants_back() -> None:
    sealed = SealedThinking(text="hm", signature="sig")
    choice = Choice(
        index=0,
        reasoning="hm",
        thinking=(sealed,),
        tool_calls=(
            ToolCall("call_a", "f", "{}", upstream_id="up", signature="seal"),
            ToolCall("call_b", "g", "{}"),
        ),
    )
    assert tool_turn(make_target(), choice) == ToolTurn(
        model="lab/small",
        host="lab/lab/small",
        thinking=(sealed,),
        reasoning="hm",
        signatures={"call_a": "seal"},
        upstream_ids={"call_a": "up"},
    )


def test_a_turn_without_calls_is_not_kept() -> None:
    assert tool_turn(make_target(), Choice(index=0, text="done")) is None

"""Made-up requests for laws about bodies: histories with everything that clients and other models write into them."""

from typing import Any

from hypothesis import strategies as st

PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64,JVBERi0xLjQK"
NAMES = st.sampled_from(["f", "g", "free", "other.tool"])
ARGUMENTS = st.sampled_from(["", " ", "{}", '{"a": 1.50}', "[1]", '{"a":', "null", '{"a": 12345678901234567890}'])
EFFORTS = st.sampled_from(["none", "minimal", "low", "medium", "high", "xhigh", "max"])


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with any of these members."""
    return st.fixed_dictionaries({}, optional=members)


def histories(
    texts: st.SearchStrategy[str],
    ids: st.SearchStrategy[str],
    text_part: st.SearchStrategy[Any],
    *media: st.SearchStrategy[Any],
) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Messages: of the system, of users with media, of assistants, and tool loops with results in any order.

    Args:
        texts: What is said.
        ids: Ids of tool calls, which may return.
        text_part: A text as a part.
        media: Other parts that users send.
    """

    def content(*parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return texts | st.lists(st.one_of(*parts), min_size=1, max_size=3)

    system = st.builds(
        lambda role, said: [{"role": role, "content": said}],
        st.sampled_from(["system", "developer"]),
        content(text_part),
    )
    user = st.builds(
        lambda said, name: [{"role": "user", "content": said, **name}],
        content(text_part, *media),
        some(name=st.just("ann")),
    )
    refusal = st.builds(lambda said: {"type": "refusal", "refusal": said}, texts)
    assistant = st.builds(
        lambda said, more: [{"role": "assistant", "content": said, **more}],
        content(text_part, refusal),
        some(refusal=texts, reasoning_content=texts, audio=st.just({"id": "a", "transcript": "Heard."})),
    )
    loop = st.builds(
        _loop,
        st.none() | texts,
        st.lists(st.tuples(ids, NAMES, ARGUMENTS), min_size=1, max_size=3),
        st.lists(content(text_part), min_size=3, max_size=3),
        st.booleans(),
    )
    turns = st.lists(st.one_of(system, user, assistant, loop, loop), min_size=1, max_size=6)
    return turns.map(lambda each: [message for turn in each for message in turn])


def bodies(
    messages: st.SearchStrategy[list[Any]], tools: list[Any], choices: list[Any], **members: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    """Whole requests, with or without tools and with any of these members."""
    with_tools = st.fixed_dictionaries({"tools": st.just(tools)}, optional={"tool_choice": st.sampled_from(choices)})
    return st.builds(_body, messages, st.just({}) | with_tools, some(**members))


def _loop(said: Any, calls: list[tuple[str, str, str]], results: list[Any], turned: bool) -> list[dict[str, Any]]:
    made = [
        {"id": call_id, "type": "custom", "custom": {"name": name, "input": arguments}}
        if name == "free"
        else {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    told = [
        {"role": "tool", "tool_call_id": call_id, "content": result}
        for (call_id, _, _), result in zip(calls, results, strict=False)
    ]
    return [{"role": "assistant", "content": said, "tool_calls": made}, *(reversed(told) if turned else told)]


def _body(messages: list[Any], tools: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    if more.get("response_format") == {"type": "json_object"}:  # the prompt must ask for it too
        messages = [{"role": "system", "content": "Answer in JSON."}, *messages]
    return {"model": "m", "messages": messages, **tools, **more}

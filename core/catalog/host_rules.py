"""What a host may not say in its vendor's format: a name that leads elsewhere, options that the gateway writes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from core.catalog.errors import CatalogError
from core.catalog.file import place
from core.catalog.lines import Path
from core.catalog.model import Format, Host, Model, Quirk, Vendor

WRITTEN: Final[Mapping[Format, tuple[str, ...]]] = {
    Format.OPENAI: (
        *("model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n", "stop"),
        *("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "logprobs", "top_logprobs"),
    ),
    Format.ANTHROPIC: (
        *("model", "messages", "system", "stream", "max_tokens", "stop_sequences", "tools", "tool_choice"),
        "anthropic_version",
    ),
    Format.GEMINI: (
        *("model", "contents", "systemInstruction", "tools", "toolConfig"),
        *("generationConfig.maxOutputTokens", "generationConfig.candidateCount", "generationConfig.stopSequences"),
        *("generationConfig.responseLogprobs", "generationConfig.logprobs"),
    ),
    Format.BEDROCK: (
        *("modelId", "messages", "system", "toolConfig"),
        *("inferenceConfig.maxTokens", "inferenceConfig.stopSequences"),
    ),
}
"""The members of a body, dotted, that the gateway alone writes: what is asked, of which model, how much may come back
and in what form. What is held and charged for a request rests on them."""

_HERE_AND_ABOVE: Final = frozenset({".", ".."})
_IN_PATH: Final[Mapping[Format, Quirk | None]] = {
    Format.OPENAI: Quirk.URLS_IN_PATH,
    Format.ANTHROPIC: Quirk.VERTEX_PATH,
    Format.GEMINI: None,  # always
    Format.BEDROCK: None,
}


def check_hosts(models: Iterable[Model], vendors: Mapping[str, Vendor], text: str, name: str) -> None:
    """Refuse hosts that would have other calls made than the gateway means to; unknown vendors' are passed over.

    Args:
        models: All of a file, in its order.
        vendors: By name.
        text: The file's TOML, for the lines.
        name: What to call the file.

    Raises:
        CatalogError: There are some; each is named by its line and field.
    """
    problems = [
        f"{place(text, name, ('models', index, 'hosts', number, *path))}: {message}"
        for index, model in enumerate(models)
        for number, host in enumerate(model.hosts)
        if host.vendor in vendors
        for path, message in _problems(host, vendors[host.vendor])
    ]
    if problems:
        raise CatalogError("\n".join(problems))


def _problems(host: Host, vendor: Vendor) -> Iterator[tuple[Path, str]]:
    quirk = _IN_PATH[vendor.format]
    is_in_path = quirk is None or quirk in vendor.quirks | host.quirks
    # URLs have no way to quote these: clients and servers resolve them in every spelling.
    if is_in_path and not _HERE_AND_ABOVE.isdisjoint(host.upstream_model.replace("\\", "/").split("/")):
        yield ("upstream_model",), "stands in the address here, and may have no part that is '.' or '..'"
    if host.api_version in _HERE_AND_ABOVE:
        yield ("api_version",), "is no version"
    for written in WRITTEN[vendor.format]:
        first, *inner = vendor.renames.get(written, written).split(".")
        if path := _found(host.options, (first, *inner)):
            yield ("options", *path), "is written by the gateway for each request, and no option"


def _found(options: Mapping[str, object], names: tuple[str, ...]) -> tuple[str, ...]:
    """The path by which options have that member, or something else in the place of an object around it."""
    wanted, *inner = names
    for name, value in options.items():
        if _plain(name) != _plain(wanted):
            continue
        if not inner or not isinstance(value, Mapping):
            return (name,)
        if below := _found(value, tuple(inner)):
            return (name, *below)
    return ()


def _plain(name: str) -> str:
    # Google's endpoints take `max_output_tokens` for `maxOutputTokens`; no other format has names that differ so.
    return name.replace("_", "").lower()

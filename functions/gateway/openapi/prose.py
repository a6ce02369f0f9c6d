"""Turns the little Markdown of descriptions into HTML: paragraphs, lists, code. Nothing else of Markdown is known."""

import re
from html import escape
from typing import Any

import orjson

_CODE = re.compile(r"`([^`]+)`")


def paragraphs(text: str) -> str:
    """A description as blocks: paragraphs, lists and fenced code, parted by empty lines."""
    return "".join(_block(block) for block in text.split("\n\n") if block)


def inline(text: str) -> str:
    """A line of a description, with its code marked."""
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def code(text: str) -> str:
    """Something that is typed as it stands."""
    return f"<code>{escape(text, quote=False)}</code>"


def json_block(value: Any) -> str:
    """A JSON value, set out for reading."""
    return listing(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def listing(text: str) -> str:
    """Lines as they stand."""
    return f"<pre><code>{escape(text, quote=False)}</code></pre>"


def folded(summary: str, content: str, *, is_open: bool = False) -> str:
    """Content that opens when its summary is clicked; the summary is text."""
    return f"<details{' open' if is_open else ''}><summary>{inline(summary)}</summary>{content}</details>"


def _block(block: str) -> str:
    if block.startswith("```"):
        return listing("\n".join(block.split("\n")[1:-1]))
    if block.startswith("- "):
        items = "".join(f"<li>{inline(line.removeprefix('- '))}</li>" for line in block.split("\n"))
        return f"<ul>{items}</ul>"
    return f"<p>{inline(block)}</p>"

"""The reference page is whole, well formed, and loads nothing."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from functions.gateway.openapi.page import reference_page
from functions.gateway.openapi.prose import paragraphs
from functions.gateway.openapi.tables import Names, kind
from tests.support.schemas import document

VOID = {"meta", "wbr", "br", "hr", "link", "img"}
PAGE, POLICY = reference_page(document())


class Read(HTMLParser):
    """What stands in a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if "href" in given else []
        self.loads += [value or "" for name, value in attrs if name in ("src", "srcset", "style", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


READ = Read(PAGE)


def test_it_is_well_formed() -> None:
    assert READ.open == []
    assert len(set(READ.ids)) == len(READ.ids)


def test_it_loads_nothing() -> None:
    assert READ.loads == []
    assert READ.tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "base", "form"})
    style = PAGE.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" == POLICY


def test_its_links_lead_into_it_or_to_the_document() -> None:
    assert {link for link in READ.links if not link.startswith("#")} == {"openapi.json"}
    assert {link.removeprefix("#") for link in READ.links if link.startswith("#")} <= set(READ.ids)


def test_it_shows_every_endpoint() -> None:
    for path, methods in document()["paths"].items():
        assert path in READ.text
        for operation in methods.values():
            assert operation["operationId"] in READ.ids
            assert operation["summary"].replace("`", "") in READ.text


def test_it_shows_every_object_once() -> None:
    for name in document()["components"]["schemas"]:
        bare = name.partition(".")[2] or name
        shown = {name.replace(".", "-"), bare} & set(READ.ids)
        assert len(shown) == 1, name


def members(shape: Any) -> set[str]:
    found: set[str] = set()
    if isinstance(shape, dict):
        for name, member in shape.get("properties", {}).items():
            if member != {"type": "null"}:
                found.add(name)
        for each in shape.values():
            found |= members(each)
    elif isinstance(shape, list):
        for each in shape:
            found |= members(each)
    return found


def test_it_shows_every_member() -> None:
    assert {
        name for name in members(document()["components"]["schemas"]) if f"<code>{name}</code>" not in PAGE
    } == set()


def test_it_shows_every_failure() -> None:
    for status, response in document()["components"]["responses"].items():
        assert f"status-{status}" in READ.ids
        for code in re.findall(r"- `(\w+)`", response["description"]):
            assert code in READ.text


def test_no_mark_of_the_descriptions_is_left() -> None:
    assert "`" not in READ.text.replace("```", "")
    assert "**" not in READ.text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("One.\n\nTwo `<x>`.", "<p>One.</p><p>Two <code>&lt;x&gt;</code>.</p>"),
        ("- a\n- `b`", "<ul><li>a</li><li><code>b</code></li></ul>"),
        ("```python\na < b\n```", "<pre><code>a &lt; b</code></pre>"),
    ],
)
def test_descriptions_become_html(text: str, html: str) -> None:
    assert paragraphs(text) == html


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 2**63 - 1}, "integer at least 1"),
        ({"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}, "integer"),
        ({"type": "string", "minLength": 1}, "string not empty"),
        ({"type": "string", "minLength": 1, "maxLength": 9}, "string 1 to 9 characters"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 4}, "array of string at most 4 entries"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "object of integer"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or null"),
        ({"enum": ["a", None]}, "a, null"),
        ({"const": True}, "true"),
        ({}, "anything"),
    ],
)
def test_types_are_told_in_words(shape: dict[str, Any], words: str) -> None:
    assert re.sub("<[^>]*>", "", kind(shape, Names({}))) == words

"""Renders the OpenAPI document as one static HTML page that loads nothing: no script, no font, no network."""

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from typing import Any, Final

from functions.gateway.openapi.prose import code, folded, inline, json_block, listing, paragraphs
from functions.gateway.openapi.shapes import Schema
from functions.gateway.openapi.tables import Names, anchor, kind, member_table, target

_STYLE: Final = "page.css"
_TWINS: Final = ("routing.", "plain.")


def reference_page(document: dict[str, Any]) -> tuple[str, str]:
    """The page, and the content security policy under which it works.

    Args:
        document: The OpenAPI document.
    """
    style = files(__package__).joinpath(_STYLE).read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    page = _Page(document)
    return page.html(style), f"default-src 'none'; style-src 'sha256-{digest}'"


class _Page:
    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._schemas: dict[str, Schema] = document["components"]["schemas"]
        self._set_out: set[str] = set()
        self._names = Names({name: _shown(name, self._schemas) for name in self._schemas})

    def html(self, style: str) -> str:
        info = self._document["info"]
        title = escape(f"{info['title']} API")
        sections = "".join((self._intro(), *self._tags(), self._failures(), self._objects()))
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta name="color-scheme" content="light dark"><style>{style}</style></head>'
            f"<body><nav>{''.join(self._contents())}</nav><main>{sections}</main></body></html>"
        )

    def _contents(self) -> Iterator[str]:
        yield f'<a class="home" href="#top">{escape(self._document["info"]["title"])}</a>'
        for tag in self._document["tags"]:
            yield f'<a class="tag" href="#{anchor(tag["name"])}">{escape(tag["name"])}</a>'
            for path, method, operation in self._operations(tag["name"]):
                yield f'<a href="#{operation["operationId"]}">{_badge(method)} {_breakable(path)}</a>'
        yield '<a class="tag" href="#failures">Failures</a><a class="tag" href="#objects">Objects</a>'
        yield '<a class="tag" href="openapi.json">openapi.json</a>'

    def _intro(self) -> str:
        info = self._document["info"]
        schemes = self._document["components"]["securitySchemes"].values()
        keys = "".join(f"<li>{inline(_scheme(scheme))}</li>" for scheme in schemes)
        return (
            f'<section id="top"><h1>{escape(info["title"])} API</h1>{paragraphs(info["description"])}'
            f"<h2>The key</h2><p>In one of two headers:</p><ul>{keys}</ul></section>"
        )

    def _tags(self) -> Iterator[str]:
        for tag in self._document["tags"]:
            operations = "".join(self._operation(*each) for each in self._operations(tag["name"]))
            name = escape(tag["name"])
            about = paragraphs(tag["description"])
            yield f'<section id="{anchor(tag["name"])}"><h2>{name}</h2>{about}{operations}</section>'

    def _operations(self, tag: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        for path, methods in self._document["paths"].items():
            for method, operation in methods.items():
                if tag in operation["tags"]:
                    yield path, method, operation

    def _operation(self, path: str, method: str, operation: dict[str, Any]) -> str:
        parts = (
            f"<h3>{_badge(method)} {_breakable(path)}</h3>",
            f'<p class="summary">{inline(operation["summary"])}. {_key(operation["security"])}</p>',
            paragraphs(operation["description"]),
            self._parameters(operation.get("parameters", [])),
            self._request(operation.get("requestBody")),
            self._answer(operation["responses"]["200"]),
            _failed(operation["responses"]),
        )
        return f'<article id="{operation["operationId"]}">{"".join(parts)}</article>'

    def _parameters(self, parameters: list[dict[str, Any]]) -> str:
        rows = "".join(
            f"<tr><th>{code(each['name'])}</th><td>{kind(each['schema'], self._names)}, in the {each['in']}</td>"
            f"<td>{inline(each['schema'].get('description', ''))} Example: {code(str(each['example']))}</td></tr>"
            for each in parameters
        )
        return f'<h4>Parameters</h4><table class="members"><tbody>{rows}</tbody></table>' if rows else ""

    def _request(self, body: dict[str, Any] | None) -> str:
        if body is None:
            return ""
        content = body["content"]["application/json"]
        reference = content["schema"]["$ref"]
        told = f"<h4>Request</h4><p>{kind(content['schema'], self._names)}: {inline(body['description'])}</p>"
        if reference in self._set_out:
            return told
        self._set_out.add(reference)
        fields = member_table(target(reference, self._schemas), self._names)
        shown = [folded(each["summary"], json_block(each["value"])) for each in content["examples"].values()]
        return f"{told}{folded('All fields', fields)}{''.join(shown)}"

    def _answer(self, response: dict[str, Any]) -> str:
        shown = [f"<h4>Answer</h4><p>{inline(response['description'])}</p>"]
        for media, content in response["content"].items():
            shown.append(f"<p>{code(media)}: {kind(content['schema'], self._names)}</p>")
            examples = content.get("examples", {}).values()
            shown.extend(folded(example["summary"], json_block(example["value"])) for example in examples)
            if "example" in content:
                shown.append(folded("Example", json_block(content["example"])))
            if media == "text/event-stream":
                events = target(content["schema"]["$ref"], self._schemas)["examples"]
                shown.append(folded("A stream", listing("\n\n".join(f"data: {event['data']}" for event in events))))
        return "".join((*shown, self._headers(response.get("headers", {}))))

    def _headers(self, headers: dict[str, Any]) -> str:
        rows = "".join(
            f"<tr><th>{code(name)}</th><td>{kind(header['schema'], self._names)}</td>"
            f"<td>{inline(header['schema']['description'])}</td></tr>"
            for name, header in headers.items()
        )
        return folded("Headers", f'<table class="members"><tbody>{rows}</tbody></table>') if rows else ""

    def _failures(self) -> str:
        shown = []
        headers: dict[str, Any] = {}
        for status, response in self._document["components"]["responses"].items():
            headers = response["headers"]
            content = response["content"]["application/json"]
            example = folded("Example", json_block(content["example"]))
            about = paragraphs(response["description"])
            shown.append(f'<article id="status-{status}"><h3>{status}</h3>{about}{example}</article>')
        envelope = self._names.link("#/components/schemas/ErrorEnvelope")
        return (
            f'<section id="failures"><h2>Failures</h2><p>The body is an {envelope}; programs read its code.</p>'
            f"{self._headers(headers)}{''.join(shown)}</section>"
        )

    def _objects(self) -> str:
        shown: dict[str, str] = {}
        for full, name in self._names.shown.items():
            shown.setdefault(name, self._object(name, self._schemas[full]))
        index = ", ".join(f'<a href="#{anchor(name)}">{escape(name)}</a>' for name in shown)
        return (
            f'<section id="objects"><h2>Objects</h2><p>{index}</p>'
            "<p>A null in a member that is not required is the same as leaving it out. A member of a request that is "
            "not in these tables is refused on the routing surface, and passes on the plain one.</p>"
            f"{''.join(shown.values())}</section>"
        )

    def _object(self, name: str, shape: Schema) -> str:
        one_of = shape.get("oneOf", ()) if "properties" not in shape else ()
        kinds = "".join(f"<li>{kind(each, self._names)}</li>" for each in one_of)
        return (
            f'<article id="{anchor(name)}"><h3>{escape(name)}</h3>{paragraphs(shape.get("description", ""))}'
            f"{f'<p>One of:</p><ul>{kinds}</ul>' if kinds else ''}{member_table(shape, self._names)}</article>"
        )


def _shown(name: str, schemas: dict[str, Schema]) -> str:
    """Objects of both surfaces that differ in nothing but what is unknown are shown as one."""
    ours, theirs = _TWINS
    prefix = next((each for each in _TWINS if name.startswith(each)), None)
    if prefix is None:
        return name
    bare = name.removeprefix(prefix)
    same = _open(schemas.get(ours + bare)) == _open(schemas.get(theirs + bare))
    return bare if same else name


def _open(shape: Any) -> Any:
    """A schema without what tells the surfaces apart."""
    if isinstance(shape, dict):
        told = {"type": "null"}
        return {
            name: _open(inner)
            for name, inner in shape.items()
            if (name, inner) != ("additionalProperties", False) and inner != told
        }
    if isinstance(shape, list):
        return [_open(inner) for inner in shape]
    if isinstance(shape, str):
        for prefix in _TWINS:
            shape = shape.replace(f"/schemas/{prefix}", "/schemas/")
    return shape


def _badge(method: str) -> str:
    return f'<span class="method {method}">{method.upper()}</span>'


def _breakable(path: str) -> str:
    """A path that may be broken after its slashes where the line is short."""
    return f'<span class="path">{escape(path).replace("/", "/<wbr>")}</span>'


def _key(security: list[dict[str, Any]]) -> str:
    if not security:
        return "No key is needed."
    return "A key may be sent." if {} in security else "A key is needed."


def _scheme(scheme: dict[str, Any]) -> str:
    if scheme["type"] == "apiKey":
        return f"`{scheme['name']}`: {scheme['description']}"
    return str(scheme["description"])


def _failed(responses: dict[str, Any]) -> str:
    links = ", ".join(f'<a href="#status-{status}">{status}</a>' for status in responses if status != "200")
    return f"<p>Failures: {links}</p>" if links else ""

"""Tells by how it begins what a host answers with under a success: a stream, JSON in one piece, or a web page."""

from enum import Enum
from typing import Final

from core.errors import BadReply
from core.framing.sse import MAX_EVENT_BYTES
from core.providers.failure_words import bad_reply

_BLANK: Final = b" \t\r\n"
_BOM: Final = b"\xef\xbb\xbf"
_PAGE_BYTES: Final = 2000


class Form(Enum):
    """What a body is, told by its first character: labels cannot be trusted."""

    UNKNOWN = "unknown"
    STREAM = "stream"
    WHOLE = "whole"
    PAGE = "page"


_FORMS: Final = {b"{": Form.WHOLE, b"[": Form.WHOLE, b"<": Form.PAGE}


class Opening:
    """Holds a body until its form is known; one that is no stream is held to its end."""

    __slots__ = ("_body", "form")

    def __init__(self) -> None:
        self.form = Form.UNKNOWN
        self._body = bytearray()

    @property
    def body(self) -> bytes:
        """What is held."""
        return bytes(self._body)

    def feed(self, data: bytes) -> bytes:
        """Take more of the body; gives back what a stream's reader is to read, nothing while it is none.

        Raises:
            BadReply: It is a page, or larger than an answer may be.
        """
        self._body += data
        if self.form is Form.UNKNOWN:
            if _BOM.startswith(self._body[: len(_BOM)]) and len(self._body) < len(_BOM):
                return b""
            start = self._body.removeprefix(_BOM).lstrip(_BLANK)
            if not start:
                return b""
            self._body = start
            self.form = _FORMS.get(bytes(start[:1]), Form.STREAM)
        if self.form is Form.STREAM:
            stream = self.body
            self._body.clear()
            return stream
        if self.form is Form.PAGE and len(self._body) >= _PAGE_BYTES:
            raise self.page()
        if len(self._body) > MAX_EVENT_BYTES:
            raise bad_reply(f"the body is larger than {MAX_EVENT_BYTES} bytes")
        return b""

    def page(self) -> BadReply:
        """The failure that a web page under a success is: a proxy's, or a wrong address."""
        return bad_reply("a web page came instead of an answer")

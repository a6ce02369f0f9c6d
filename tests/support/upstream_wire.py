"""A scripted upstream's side of HTTP/1.1: requests in, heads and framed bodies out."""

import asyncio
import socket
import struct
from collections.abc import Sequence
from http import HTTPStatus

from tests.support.script import Head, Received, Send, Signal, Step, Trickle


def encode_head(head: Head, script: Sequence[Step]) -> bytes:
    """Status line and headers, with those of the framing."""
    known = {status.value: status.phrase for status in HTTPStatus}
    lines = [f"HTTP/1.1 {head.status} {known.get(head.status, 'Unknown')}"]
    lines += [f"{name}: {value}" for name, value in head.headers.items()]
    if head.framing == "chunked":
        lines.append("transfer-encoding: chunked")
    elif head.framing == "length":
        sent = sum(len(step.data) for step in script if isinstance(step, Send | Trickle))
        lines.append(f"content-length: {sent if head.length is None else head.length}")
    else:
        lines.append("connection: close")
    return "\r\n".join([*lines, "", ""]).encode()


def framed(data: bytes, head: Head) -> bytes:
    """A part of the body as the head has promised it."""
    return b"%x\r\n%b\r\n" % (len(data), data) if head.framing == "chunked" else data


def end(writer: asyncio.StreamWriter, *, reset: bool) -> None:
    """Ends the connection, with FIN after what was sent or with RST."""
    if reset:
        linger = struct.pack("ii", 1, 0)  # makes the kernel send RST
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
    else:
        writer.close()


async def read_request(reader: asyncio.StreamReader, gone: Signal) -> Received | None:
    """The next request of a connection; None when the peer has left instead."""
    try:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        pairs = [line.partition(":") for line in lines if line]
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(await reader.readline(), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        else:
            body = await reader.readexactly(int(headers.get("content-length", "0")))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return Received(method, path, headers, body, gone)

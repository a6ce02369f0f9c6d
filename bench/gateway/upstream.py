"""A fast scripted upstream: bytes that were rendered at the start, written by a bare protocol."""

import asyncio
from collections.abc import Sequence
from typing import Final

from bench.gateway.child import listener
from bench.gateway.wire import Requests
from bench.gateway.workloads import MARK, PACE_S, streamed, whole_answer

_STREAMS: Final = b'"stream":true'
_WHOLE_HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
_STREAM_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
)
_END: Final = b"0\r\n\r\n"


def in_chunks(events: Sequence[bytes]) -> list[bytes]:
    """Each event as a chunk of HTTP/1.1; the last with the end of the body."""
    chunks = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
    chunks[-1] += _END
    return chunks


WHOLE: Final = (_WHOLE_HEAD % len(whole_answer())) + whole_answer()
SCRIPTS: Final = {script: in_chunks(streamed(script)) for script in ("whole", "burst", "paced", "tools")}


class Upstream(Requests):
    """Answers each request by the script that its prompt names."""

    def requested(self, head: bytes, body: bytes) -> None:
        """Answer."""
        at = body.find(MARK) + len(MARK)
        script = body[at : body.find(b";", at)].decode()
        if _STREAMS not in body:
            self.transport.write(WHOLE)
        elif script == "whole":
            self.transport.write(_STREAM_HEAD + b"".join(SCRIPTS[script]))
        elif script == "paced":
            self.transport.write(_STREAM_HEAD)
            self._pace(SCRIPTS[script], 0, asyncio.get_running_loop().time())
        else:
            self.transport.write(_STREAM_HEAD)
            for chunk in SCRIPTS[script]:
                self.transport.write(chunk)

    def _pace(self, chunks: Sequence[bytes], place: int, began: float) -> None:
        self.transport.write(chunks[place])
        if place + 1 < len(chunks):
            moment = began + (place + 1) * PACE_S
            asyncio.get_running_loop().call_at(moment, self._pace, chunks, place + 1, began)


async def main() -> None:
    """Serve until the process is ended."""
    server = await asyncio.get_running_loop().create_server(Upstream, sock=listener())
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())  # not uvloop, which gathers the writes of a turn into one

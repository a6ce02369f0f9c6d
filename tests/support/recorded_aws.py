"""AWS as a gateway meets it, with a note of every right that a call needs: stands between a client and ministack."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, TypeAlias

Right: TypeAlias = tuple[str, str]
"""An action as IAM names it, and what it is done on: a table, an index of one (`table/index/name`), a key, a secret."""

# The first part of X-Amz-Target (in AWS's service models: `targetPrefix`) -> IAM's word for the service.
SERVICES = {"DynamoDB_20120810": "dynamodb", "TrentService": "kms", "secretsmanager": "secretsmanager"}

# A transaction needs the rights of what is in it (DynamoDB developer guide, "DynamoDB transactions: How it works").
IN_TRANSACTIONS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}


class RecordedAws:
    """What was asked of AWS. `endpoint` is where to ask it."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.used: set[Right] = set()


@contextmanager
def recorded_aws(port: int) -> Iterator[RecordedAws]:
    """Pass calls on to a server on 127.0.0.1, noting the rights that they need."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            recorded.used |= {*rights(self.headers["x-amz-target"], json.loads(body))}
            connection = HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("POST", self.path, body, dict(self.headers.items()))
            answer = connection.getresponse()
            told = answer.read()
            connection.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"connection", "content-length", "date", "server", "transfer-encoding"}:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # Kept-alive connections of clients would hold their threads, and the end of the server, for ever.
    server.daemon_threads = True
    recorded = RecordedAws(f"http://127.0.0.1:{server.server_address[1]}")
    serving = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    try:
        yield recorded
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def rights(target: str, body: dict[str, Any]) -> Iterator[Right]:
    """What IAM asks for before a call is done."""
    prefix, _, operation = target.partition(".")
    service = SERVICES[prefix]
    match body:
        case {"TransactItems": [*actions]}:
            for action in actions:
                for kind, inner in action.items():
                    yield f"{service}:{IN_TRANSACTIONS[kind]}", inner["TableName"]
        case {"RequestItems": dict(tables)}:
            yield from ((f"{service}:{operation}", table) for table in tables)
        case {"TableName": table, "IndexName": index}:
            yield f"{service}:{operation}", f"{table}/index/{index}"
        case {"TableName": place} | {"KeyId": place} | {"SecretId": place}:
            yield f"{service}:{operation}", place
        case _:
            # Sealed data names its key itself.
            yield f"{service}:{operation}", ""

"""What a table's stream brings, as Lambda hands it to a function: read from the real stream, in order."""

import base64
from typing import Any

import boto3

from tests.support.ministack import REGION, Ministack

Change = dict[str, Any]


def changes(server: Ministack, table: str) -> list[Change]:
    """Everything that happened to a table, as `Records` of a Lambda event."""
    session = boto3.Session("test", "test", region_name=REGION)
    client = session.client("dynamodbstreams", endpoint_url=server.endpoint)
    (stream,) = client.list_streams(TableName=table)["Streams"]
    description = client.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]
    found: list[Change] = []
    for shard in description["Shards"]:
        iterator: str | None = client.get_shard_iterator(
            StreamArn=stream["StreamArn"], ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        while iterator is not None:
            answer = client.get_records(ShardIterator=iterator)
            found += [_as_event(record) for record in answer["Records"]]
            iterator = answer.get("NextShardIterator") if answer["Records"] else None
    client.close()
    return found


def to_be_counted(server: Ministack, table: str) -> list[Change]:
    """The changes that the filter of the function's event source lets through (template.yaml)."""
    return [change for change in changes(server, table) if needs_counting(change)]


def needs_counting(change: Change) -> bool:
    """Whether the filter lets a change through."""
    image = change["dynamodb"].get("NewImage", {})
    return "open_shard" in image and "settled_ms" in image


def _as_event(record: Any) -> Change:
    """In an event binary values are base64 text (AWS Lambda developer guide, "DynamoDB", read 2026-11-30)."""
    changed = record["dynamodb"]
    images = {
        name: {member: _written(value) for member, value in changed[name].items()}
        for name in ("Keys", "NewImage", "OldImage")
        if name in changed
    }
    return {
        "eventID": record["eventID"],
        "eventName": record["eventName"],
        "eventSource": "aws:dynamodb",
        "dynamodb": {**images, "SequenceNumber": changed["SequenceNumber"]},
    }


def _written(value: Any) -> Any:
    return {"B": base64.b64encode(value["B"]).decode()} if "B" in value else value

"""Answers under their callers' idempotency keys, in DynamoDB.

    table   pk                                           sk          holds
    ledger  ANSWER#<org>#<key id>#<name>                 ORG#<org>   who holds the key, and the answer if it is short
            ANSWER#<org>#<key id>#<name>#<request id>#n  ORG#<org>   the n-th piece of a longer one

An item holds at most 400 KB. The pieces are written first, under the id of the request that made them, so that an
answer which another request took over never holds pieces of both.
"""

from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from core.kept import Claim, Held, Phase
from core.store.dynamodb_calls import read_all, write_all
from core.store.dynamodb_faults import found_instead, refused_by_condition
from core.store.dynamodb_items import Attributes, number, owned_by, text
from core.store.dynamodb_threads import DynamoThreads

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PIECE: Final = 300_000
"""How long a piece is, in characters of ASCII."""

_FREE: Final = (
    "attribute_not_exists(pk) OR expires_ms <= :now OR "
    # A try that was repeated finds its own claim.
    "(phase = :running AND (lease_until_ms <= :now OR holder = :mine))"
)
_MINE: Final = "phase = :running AND holder = :mine"


class DynamoAnswers:
    """The `Answers` port on DynamoDB."""

    _ledger: str
    _threads: DynamoThreads

    async def begin(self, claim: Claim, now_ms: int) -> Held | None:
        """Take the key, unless it is taken; see `Answers.begin`."""
        item = _address(claim) | {
            "phase": text(Phase.RUNNING.value),
            "body": text(claim.body),
            "holder": text(claim.request_id),
            "lease_until_ms": number(claim.lease_until_ms),
            **_expiry(claim),
        }

        def work(client: "DynamoDBClient") -> Held | None:
            try:
                client.put_item(
                    TableName=self._ledger,
                    Item=item,
                    ConditionExpression=_FREE,
                    ExpressionAttributeValues=_values(claim) | {":now": number(now_ms)},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if refused_by_condition(error):
                    return _held(found_instead(error))
                raise
            return None

        return await self._threads.do(self._ledger, work)

    async def finish(self, claim: Claim, answer: str | None) -> bool:
        """Keep the answer; see `Answers.finish`."""
        pieces = [] if answer is None else [answer[start : start + PIECE] for start in range(0, len(answer), PIECE)]
        is_short = len(pieces) == 1
        phase = Phase.TOO_LARGE if answer is None else Phase.KEPT

        def work(client: "DynamoDBClient") -> bool:
            if not is_short:
                write_all(client, self._ledger, [_piece(claim, place, piece) for place, piece in enumerate(pieces)])
            values = _values(claim) | {":phase": text(phase.value), ":pieces": number(len(pieces))}
            try:
                client.update_item(
                    TableName=self._ledger,
                    Key=_key(claim),
                    UpdateExpression=f"SET phase = :phase, pieces = :pieces{', answer = :answer' if is_short else ''}",
                    ConditionExpression=_MINE,
                    ExpressionAttributeValues=values | {":answer": text(pieces[0])} if is_short else values,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if refused_by_condition(error):
                    # A try before this one may have been carried out.
                    found = found_instead(error)
                    return found.get("holder") == text(claim.request_id) and found["phase"] == text(phase.value)
                raise
            return True

        return await self._threads.do(self._ledger, work)

    async def fetch(self, claim: Claim, held: Held) -> str | None:
        """The sealed answer, or None where it is not there any more."""
        if held.answer is not None:
            return held.answer
        keys = [_piece_key(claim, held.request_id, place) for place in range(held.pieces)]

        def work(client: "DynamoDBClient") -> str | None:
            found = {item["place"]["N"]: item["answer"]["S"] for item in read_all(client, self._ledger, keys)}
            if len(found) < len(keys) or not keys:
                return None
            return "".join(found[str(place)] for place in range(held.pieces))

        return await self._threads.do(self._ledger, work)

    async def drop(self, claim: Claim) -> None:
        """Give the key up, if it is still the claim's and nothing is kept under it."""

        def work(client: "DynamoDBClient") -> None:
            try:
                # Not deleted: the gateway may not do that, and the item expires by itself.
                client.update_item(
                    TableName=self._ledger,
                    Key=_key(claim),
                    UpdateExpression="SET lease_until_ms = :over",
                    ConditionExpression=_MINE,
                    ExpressionAttributeValues=_values(claim) | {":over": number(0)},
                )
            except ClientError as error:
                if not refused_by_condition(error):
                    raise

        await self._threads.do(self._ledger, work)


def _key(claim: Claim) -> Attributes:
    return {"pk": text(f"ANSWER#{claim.org}#{claim.key_id}#{claim.name}"), "sk": text(f"ORG#{claim.org}")}


def _piece_key(claim: Claim, request_id: str, place: int) -> Attributes:
    address = _key(claim)
    return address | {"pk": text(f"{address['pk']['S']}#{request_id}#{place}")}


def _address(claim: Claim) -> Attributes:
    """The key, with what lets the item be found when its organisation is deleted."""
    key = _key(claim)
    return key | owned_by(claim.org, key["pk"]["S"])


def _piece(claim: Claim, place: int, piece: str) -> Attributes:
    key = _piece_key(claim, claim.request_id, place)
    return key | owned_by(claim.org, key["pk"]["S"]) | _expiry(claim) | {"place": number(place), "answer": text(piece)}


def _expiry(claim: Claim) -> Attributes:
    return {"expires_ms": number(claim.expires_ms), "expires_at": number(-(-claim.expires_ms // 1000))}


def _values(claim: Claim) -> Attributes:
    return {":running": text(Phase.RUNNING.value), ":mine": text(claim.request_id)}


def _held(item: Attributes) -> Held:
    answer = item.get("answer")
    return Held(
        body=item["body"]["S"],
        request_id=item["holder"]["S"],
        phase=Phase(item["phase"]["S"]),
        answer=None if answer is None else answer["S"],
        pieces=int(item["pieces"]["N"]) if "pieces" in item else 0,
    )

"""The operator's endpoints for callers' keys."""

from typing import Final

from core.administration import keys
from core.chat import Json
from core.surfaces.admin.keys import key_object, parse_key, parse_key_changes, parse_rotation
from functions.gateway.admin_call import Call, Endpoints, deleted, listed


async def _list(call: Call) -> Json:
    org = (await call.office.organisation(call.names["org"])).id
    return listed(map(key_object, await call.office.store.keys(org)))


async def _create(call: Call) -> Json:
    token, key = await keys.create(call.office, call.names["org"], parse_key(call.body))
    return key_object(key, token)


async def _read(call: Call) -> Json:
    return key_object(await call.office.key(call.names["org"], call.names["key_id"]))


async def _change(call: Call) -> Json:
    changes = parse_key_changes(call.body)
    return key_object(await keys.change(call.office, call.names["org"], call.names["key_id"], changes))


async def _rotate(call: Call) -> Json:
    hours = parse_rotation(call.body)
    token, key = await keys.rotate(call.office, call.names["org"], call.names["key_id"], hours)
    return key_object(key, token)


async def _revoke(call: Call) -> Json:
    return key_object(await keys.revoke(call.office, call.names["org"], call.names["key_id"]))


async def _delete(call: Call) -> Json:
    await keys.delete(call.office, call.names["org"], call.names["key_id"])
    return deleted("key", call.names["key_id"])


KEY_ENDPOINTS: Final[Endpoints] = (
    ("GET", "/organisations/{org}/keys", _list),
    ("POST", "/organisations/{org}/keys", _create),
    ("GET", "/organisations/{org}/keys/{key_id}", _read),
    ("PATCH", "/organisations/{org}/keys/{key_id}", _change),
    ("DELETE", "/organisations/{org}/keys/{key_id}", _delete),
    ("POST", "/organisations/{org}/keys/{key_id}/rotate", _rotate),
    ("POST", "/organisations/{org}/keys/{key_id}/revoke", _revoke),
)

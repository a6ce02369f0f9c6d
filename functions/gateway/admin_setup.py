"""The operator's endpoints for what an organisation has of its own: policies, keys at vendors, a catalog."""

from typing import Final

from core.administration import setup
from core.chat import Json
from core.surfaces.admin.catalogs import catalog_object, parse_own_catalog
from core.surfaces.admin.organisations import own_key_object, parse_own_key
from core.surfaces.admin.policies import parse_policy, policy_object
from functions.gateway.admin_call import Call, Endpoints, deleted, listed


async def _list_policies(call: Call) -> Json:
    policies = (await call.office.workspace(call.names["org"])).policies
    return listed(policy_object(policies[name]) for name in sorted(policies))


async def _read_policy(call: Call) -> Json:
    return policy_object(await setup.policy(call.office, call.names["org"], call.names["policy"]))


async def _put_policy(call: Call) -> Json:
    policy = parse_policy(call.new_name("policy"), call.body)
    await setup.save_policy(call.office, call.names["org"], policy)
    return policy_object(policy)


async def _delete_policy(call: Call) -> Json:
    await setup.delete_policy(call.office, call.names["org"], call.names["policy"])
    return deleted("policy", call.names["policy"])


async def _list_own_keys(call: Call) -> Json:
    own_keys = (await call.office.workspace(call.names["org"])).own_keys
    return listed(own_key_object(own_keys[vendor]) for vendor in sorted(own_keys))


async def _put_own_key(call: Call) -> Json:
    secret = parse_own_key(call.body)
    return own_key_object(await setup.save_own_key(call.office, call.names["org"], call.names["vendor"], secret))


async def _delete_own_key(call: Call) -> Json:
    await setup.delete_own_key(call.office, call.names["org"], call.names["vendor"])
    return deleted("own_key", call.names["vendor"])


async def _read_catalog(call: Call) -> Json:
    return catalog_object(await setup.catalog(call.office, call.names["org"]))


async def _put_catalog(call: Call) -> Json:
    toml = parse_own_catalog(call.body)
    await setup.save_catalog(call.office, call.names["org"], toml)
    return catalog_object(toml)


async def _delete_catalog(call: Call) -> Json:
    await setup.delete_catalog(call.office, call.names["org"])
    return deleted("catalog", call.names["org"])


SETUP_ENDPOINTS: Final[Endpoints] = (
    ("GET", "/organisations/{org}/policies", _list_policies),
    ("GET", "/organisations/{org}/policies/{policy}", _read_policy),
    ("PUT", "/organisations/{org}/policies/{policy}", _put_policy),
    ("DELETE", "/organisations/{org}/policies/{policy}", _delete_policy),
    ("GET", "/organisations/{org}/own-keys", _list_own_keys),
    ("PUT", "/organisations/{org}/own-keys/{vendor}", _put_own_key),
    ("DELETE", "/organisations/{org}/own-keys/{vendor}", _delete_own_key),
    ("GET", "/organisations/{org}/catalog", _read_catalog),
    ("PUT", "/organisations/{org}/catalog", _put_catalog),
    ("DELETE", "/organisations/{org}/catalog", _delete_catalog),
)

"""A `Directory` in memory, for tests of what stands in front of one."""

from collections.abc import Sequence
from dataclasses import replace

from core.decision import Policy
from core.tenant import STANDARD_PLAN, Key, Organisation, OwnKey, Plan
from core.workspace import Workspace


class MemoryDirectory:
    """What was saved; `known` are its keys by digest, `spaces` its workspaces by organisation."""

    def __init__(self, *keys: Key) -> None:
        self.known: dict[str, Key] = {key.digest: key for key in keys}
        self.spaces: dict[str, Workspace] = {}
        self.stored_plans: dict[str, Plan] = {}
        self.payments: dict[tuple[str, str], int] = {}

    async def key(self, digest: str) -> Key | None:
        return self.known.get(digest)

    async def keys(self, org: str) -> Sequence[Key]:
        return [one for one in self.known.values() if one.org == org]

    async def save_key(self, key: Key, before: Key | None = None) -> bool:
        there = self.known.get(key.digest)
        if before is not None and not (there and there.is_as(before)):
            return False
        self.known[key.digest] = key
        return True

    async def delete_key(self, key: Key) -> None:
        self.known.pop(key.digest, None)

    async def touch_key(self, digest: str, now_ms: int) -> None:
        if digest in self.known:
            self.known[digest] = replace(self.known[digest], last_used_ms=now_ms)

    async def organisation(self, org: str) -> Organisation | None:
        return self.spaces[org].organisation if org in self.spaces else None

    async def organisations(self) -> Sequence[Organisation]:
        return [space.organisation for space in self.spaces.values()]

    async def save_organisation(self, organisation: Organisation) -> None:
        space = self.spaces.get(organisation.id, Workspace(organisation))
        self.spaces[organisation.id] = replace(space, organisation=organisation)

    async def workspace(self, org: str) -> Workspace | None:
        space = self.spaces.get(org)
        if space is None:
            return None
        return replace(space, plan=self.stored_plans.get(space.organisation.plan, STANDARD_PLAN))

    async def pay_in(self, org: str, payment: str, micros: int, now_ms: int) -> int | None:
        if org not in self.spaces:
            return 0
        if (org, payment) in self.payments:
            return self.payments[org, payment]
        self.payments[org, payment] = micros
        organisation = self.spaces[org].organisation
        await self.save_organisation(replace(organisation, credit_micros=organisation.credit_micros + micros))
        return None

    async def save_policy(self, org: str, policy: Policy) -> None:
        space = self.spaces[org]
        self.spaces[org] = replace(space, policies={**space.policies, policy.name: policy})

    async def delete_policy(self, org: str, name: str) -> None:
        space = self.spaces[org]
        kept = {each: policy for each, policy in space.policies.items() if each != name}
        self.spaces[org] = replace(space, policies=kept)

    async def save_own_key(self, own_key: OwnKey) -> None:
        space = self.spaces[own_key.org]
        self.spaces[own_key.org] = replace(space, own_keys={**space.own_keys, own_key.vendor: own_key})

    async def delete_own_key(self, org: str, vendor: str) -> None:
        space = self.spaces[org]
        kept = {each: own_key for each, own_key in space.own_keys.items() if each != vendor}
        self.spaces[org] = replace(space, own_keys=kept)

    async def save_catalog(self, org: str, toml: str | None) -> None:
        self.spaces[org] = replace(self.spaces[org], catalog=toml)

    async def plans(self) -> Sequence[Plan]:
        return list(self.stored_plans.values())

    async def save_plan(self, plan: Plan) -> None:
        self.stored_plans[plan.id] = plan

    async def delete_plan(self, plan_id: str) -> None:
        self.stored_plans.pop(plan_id, None)

    async def delete_organisation(self, org: str) -> None:
        self.spaces.pop(org, None)
        self.known = {digest: key for digest, key in self.known.items() if key.org != org}

"""What organisations set up, and plans, in the SQLite file."""

from collections.abc import Callable, Sequence
from sqlite3 import Connection
from typing import Final, TypeVar

from core.decision import Policy
from core.store import schema, schema_setup
from core.store.sqlite_directory import organisation_of
from core.store.sqlite_opinions import opinions_in
from core.store.sqlite_thread import SqliteThread
from core.tenant import OwnKey, Plan
from core.workspace import Workspace

Value = TypeVar("Value")

POLICY: Final = "policy"
OWN_KEY: Final = "own_key"
CATALOG: Final = "catalog"

_SAVE = "INSERT OR REPLACE INTO setup (org, kind, name, item) VALUES (?, ?, ?, ?)"
_DELETE = "DELETE FROM setup WHERE org = ? AND kind = ? AND name = ?"


class SqliteSetup:
    """Workspaces, their parts and plans, for a store that has the thread."""

    _thread: SqliteThread

    async def workspace(self, org: str) -> Workspace | None:
        """Everything that the organisation has set up, or None where there is no such organisation."""
        return await self._thread.read(lambda connection: _workspace(connection, org))

    async def save_policy(self, org: str, policy: Policy) -> None:
        """Write a policy of an organisation's; one with the same name is replaced."""
        await self._save(org, POLICY, policy.name, schema_setup.policy_item(policy))

    async def delete_policy(self, org: str, name: str) -> None:
        """Forget a policy; nothing happens where it is not there."""
        await self._delete(org, POLICY, name)

    async def save_own_key(self, own_key: OwnKey) -> None:
        """Write an organisation's own key at a vendor; the one before is replaced."""
        await self._save(own_key.org, OWN_KEY, own_key.vendor, schema_setup.own_key_item(own_key))

    async def delete_own_key(self, org: str, vendor: str) -> None:
        """Forget an own key; nothing happens where it is not there."""
        await self._delete(org, OWN_KEY, vendor)

    async def save_catalog(self, org: str, toml: str | None) -> None:
        """Write the TOML of an organisation's own catalog; None takes it away."""
        if toml is None:
            await self._delete(org, CATALOG, "")
        else:
            await self._save(org, CATALOG, "", {"toml": toml})

    async def plans(self) -> Sequence[Plan]:
        """All plans, by id: those stored, and those built in whose place none of them takes."""
        found = await self._thread.read(lambda connection: connection.execute("SELECT item FROM plan").fetchall())
        return schema_setup.with_built_in(schema.loads(item, schema_setup.plan_value) for (item,) in found)

    async def save_plan(self, plan: Plan) -> None:
        """Write a plan; one with the same id is replaced."""
        row = (plan.id, schema.dumps(schema_setup.plan_item(plan)).decode())
        await self._thread.write(
            lambda connection: connection.execute("INSERT OR REPLACE INTO plan (id, item) VALUES (?, ?)", row)
        )

    async def delete_plan(self, plan_id: str) -> None:
        """Forget a stored plan; nothing happens where it is not there."""
        await self._thread.write(lambda connection: connection.execute("DELETE FROM plan WHERE id = ?", (plan_id,)))

    async def _save(self, org: str, kind: str, name: str, item: schema.Item) -> None:
        row = (org, kind, name, schema.dumps(item).decode())
        await self._thread.write(lambda connection: connection.execute(_SAVE, row))

    async def _delete(self, org: str, kind: str, name: str) -> None:
        await self._thread.write(lambda connection: connection.execute(_DELETE, (org, kind, name)))


def _workspace(connection: Connection, org: str) -> Workspace | None:
    row = connection.execute("SELECT item, credit_micros FROM organisation WHERE id = ?", (org,)).fetchone()
    if row is None:
        return None
    organisation = organisation_of(*row)
    plan = connection.execute("SELECT item FROM plan WHERE id = ?", (organisation.plan,)).fetchone()
    setup: dict[str, list[str]] = {POLICY: [], OWN_KEY: [], CATALOG: []}
    for kind, item in connection.execute("SELECT kind, item FROM setup WHERE org = ? ORDER BY name", (org,)):
        setup.setdefault(kind, []).append(item)
    catalogs = _values(setup[CATALOG], lambda item: str(item["toml"]))
    return schema_setup.workspace(
        organisation,
        plan=None if plan is None else schema.loads(plan[0], schema_setup.plan_value),
        policies=_values(setup[POLICY], schema_setup.policy_value),
        own_keys=_values(setup[OWN_KEY], schema_setup.own_key_value),
        opinions=opinions_in(connection, org),
        catalog=catalogs[0] if catalogs else None,
    )


def _values(items: list[str], read: Callable[[schema.Item], Value]) -> list[Value]:
    return [schema.loads(item, read) for item in items]

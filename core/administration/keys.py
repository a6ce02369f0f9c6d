"""Operators' use cases for callers' keys. A key is returned once, by whoever makes it, and its hash is kept."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from core.accounts.keys import ENTROPY_BYTES, digest, hint, make_key
from core.administration.naming import check_models
from core.administration.office import Office
from core.errors import Conflict, InvalidRequest
from core.surfaces.admin.keys import LATEST_S
from core.tenant import Key
from core.workspace import Workspace

HOUR_MS: Final = 3_600_000

_ID_BYTES: Final = 8


async def create(office: Office, org: str, members: Mapping[str, Any]) -> tuple[str, Key]:
    """Make a key; returns it, and what is kept of it.

    Args:
        office: The collaborators.
        org: The organisation that it belongs to.
        members: Those of `Key` that are given; `name` must be.

    Raises:
        NotFound: There is no such organisation.
        InvalidRequest: It names a policy or a model that is not there, or expires before now.
    """
    return await _make(office, org, check(office, await office.workspace(org), members))


async def _make(office: Office, org: str, members: Mapping[str, Any]) -> tuple[str, Key]:
    token = make_key(office.random_bytes(ENTROPY_BYTES))
    key = Key(
        **members,
        digest=digest(token),
        id=f"key_{office.random_bytes(_ID_BYTES).hex()}",
        org=org,
        hint=hint(token),
        created_ms=office.now_ms(),
    )
    await office.directory.save_key(key)
    return token, key


async def change(office: Office, org: str, key_id: str, members: Mapping[str, Any]) -> Key:
    """Change members of a key; fails as `create` does, and with NotFound where there is no such key."""
    before = await office.key(org, key_id)
    changed = replace(before, **check(office, await office.workspace(org), members))
    await office.directory.save_key(changed)
    return changed


async def revoke(office: Office, org: str, key_id: str) -> Key:
    """Revoke a key at once; other processes that know it refuse it within a minute. A second time changes nothing.

    Raises:
        NotFound: There is no such key.
    """
    before = await office.key(org, key_id)
    if before.revoked_ms is not None:
        return before
    revoked = replace(before, revoked_ms=office.now_ms())
    await office.directory.save_key(revoked)
    return revoked


async def rotate(office: Office, org: str, key_id: str, overlap_hours: int) -> tuple[str, Key]:
    """Make a key that may do what another one may, which lives on for some hours; returns the new one.

    A key that was made to expire is followed by one that lives as long from now on.

    Raises:
        NotFound: There is no such key.
        Conflict: `key_not_live`: it is expired or revoked.
    """
    old = await office.key(org, key_id)
    now_ms = office.now_ms()
    if not old.is_live(now_ms):
        ended = "expired" if old.revoked_ms is None else "revoked"
        raise Conflict(f"The key {key_id!r} is {ended}. Make a new one.", code="key_not_live")
    members = {name: getattr(old, name) for name in ("name", "policies", "models", "scopes", "limits")}
    if old.expires_ms is not None:
        members["expires_ms"] = min(now_ms + old.expires_ms - old.created_ms, LATEST_S * 1000)
    token, key = await _make(office, org, members)
    ends_ms = now_ms + overlap_hours * HOUR_MS
    shortened = ends_ms if old.expires_ms is None else min(old.expires_ms, ends_ms)
    await office.directory.save_key(replace(old, expires_ms=shortened))
    return token, key


async def delete(office: Office, org: str, key_id: str) -> None:
    """Forget a key; what it was used for stays in the records.

    Raises:
        NotFound: There is no such key.
    """
    await office.directory.delete_key(await office.key(org, key_id))


def check(office: Office, workspace: Workspace, members: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a key of that organisation's, with models by their ids.

    Raises:
        InvalidRequest: They name a policy or a model that is not there, or a time before now.
    """
    for index, name in enumerate(members.get("policies", ())):
        if name not in workspace.policies:
            known = ", ".join(sorted(workspace.policies))
            raise InvalidRequest(
                f"{workspace.organisation.id!r} has no policy {name!r}. It has: {known}.", param=f"policies[{index}]"
            )
    expires_ms = members.get("expires_ms")
    if expires_ms is not None and expires_ms <= office.now_ms():
        raise InvalidRequest("'expires' must be after now, in Unix seconds. To end a key, revoke it.", param="expires")
    models = members.get("models")
    if models is None:
        return dict(members)
    catalog = office.offers().of(workspace).catalog
    check_models(catalog, models, "models")
    return {**members, "models": tuple(dict.fromkeys(map(catalog.id_of, models)))}

"""Operators' use cases for callers' keys. A key is returned once, by whoever makes it, and its hash is kept."""

from collections.abc import Callable, Mapping
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

# How often a change is tried that meets another one of the same key.
_TRIES: Final = 16


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
    """Change members of a key; fails as `create` does, and with NotFound where there is no such key.

    Raises:
        Conflict: `key_changed`: others change it all the time.
    """
    await office.key(org, key_id)
    checked = check(office, await office.workspace(org), members)
    return await _amended(office, org, key_id, lambda key: replace(key, **checked))


async def revoke(office: Office, org: str, key_id: str) -> Key:
    """Revoke a key at once; other processes that know it refuse it within a minute. A second time changes nothing.

    Raises:
        NotFound: There is no such key.
        Conflict: `key_changed`: others change it all the time.
    """
    now_ms = office.now_ms()
    return await _amended(
        office, org, key_id, lambda key: key if key.revoked_ms is not None else replace(key, revoked_ms=now_ms)
    )


async def rotate(office: Office, org: str, key_id: str, overlap_hours: int) -> tuple[str, Key]:
    """Make a key that may do what another one may, which lives on for some hours; returns the new one.

    A key that was made to expire is followed by one that lives as long from now on. Under limits the new key counts on
    where the old one stands, and both count together while both live.

    Raises:
        NotFound: There is no such key.
        Conflict: `key_not_live`: it is expired or revoked. `key_rotated`: a key that lives took its place before, maybe
            at this very moment. `key_changed`: others change it all the time.
    """
    for _ in range(_TRIES):
        old = await office.key(org, key_id)
        now_ms = office.now_ms()
        await _check_rotation(office, old, now_ms)
        # First, so that no key ever ends without the one that follows it.
        token, key = await _make(office, org, _heir(old, now_ms))
        ends_ms = now_ms + overlap_hours * HOUR_MS
        shortened = ends_ms if old.expires_ms is None else min(old.expires_ms, ends_ms)
        if await office.directory.save_key(replace(old, expires_ms=shortened, successor=key.id), old):
            return token, key
        await office.directory.delete_key(key)
    raise _busy(key_id)


async def _check_rotation(office: Office, old: Key, now_ms: int) -> None:
    if not old.is_live(now_ms):
        ended = "expired" if old.revoked_ms is None else "revoked"
        raise Conflict(f"The key {old.id!r} is {ended}. Make a new one.", code="key_not_live")
    if old.successor is None:
        return
    for key in await office.store.keys(old.org):
        if key.id == old.successor and key.is_live(now_ms):
            raise Conflict(
                f"{key.id!r} took the place of the key {old.id!r} before. Rotate that one, or revoke it first.",
                code="key_rotated",
            )


def _heir(old: Key, now_ms: int) -> dict[str, Any]:
    members = {name: getattr(old, name) for name in ("name", "policies", "models", "scopes", "limits")}
    members["counted_as"] = old.counter_id
    if old.expires_ms is not None:
        members["expires_ms"] = min(now_ms + old.expires_ms - old.created_ms, LATEST_S * 1000)
    return members


async def _amended(office: Office, org: str, key_id: str, amend: Callable[[Key], Key]) -> Key:
    """Change a key as it stands, so that nothing is lost of what others change at the same time."""
    for _ in range(_TRIES):
        before = await office.key(org, key_id)
        after = amend(before)
        if after == before or await office.directory.save_key(after, before):
            return after
    raise _busy(key_id)


def _busy(key_id: str) -> Conflict:
    return Conflict(
        f"The key {key_id!r} was changed by others at the same moment. Look at it, and send this again.",
        code="key_changed",
    )


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

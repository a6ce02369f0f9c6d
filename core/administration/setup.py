"""Operators' use cases for what an organisation has of its own: policies, keys at vendors, a catalog."""

from typing import Final

from core.accounts.own_keys import own_key_place
from core.administration.naming import check_models, check_vendor
from core.administration.office import Office
from core.catalog.errors import CatalogError
from core.decision import BUILT_IN_POLICY, Policy
from core.errors import Conflict, InvalidRequest, NotFound, Overloaded
from core.tenant import OwnKey

LARGEST_CATALOG: Final = 256 * 1024
"""How large an organisation's catalog may be, in bytes; a DynamoDB item holds 400 KB, and it is read with the rest."""

HINTED: Final = 16
"""How long a key must be for its last four characters to be shown: they must not give much of it away."""


async def policy(office: Office, org: str, name: str) -> Policy:
    """The organisation's policy of that name, its own or the built-in one.

    Raises:
        NotFound: There is no such organisation, or no such policy.
    """
    found = (await office.workspace(org)).policies.get(name)
    if found is None:
        raise _no_policy(org, name)
    return found


async def save_policy(office: Office, org: str, written: Policy) -> None:
    """Write a policy of an organisation's; one with the same name is replaced.

    Raises:
        NotFound: There is no such organisation.
        InvalidRequest: It names a model or a vendor that the organisation cannot choose from.
    """
    catalog = office.offers().of(await office.workspace(org)).catalog
    check_models(catalog, written.allow_models or (), "allow_models")
    check_models(catalog, written.named_model_fallbacks, "named_model_fallbacks", by_name=True)
    for name, stand_ins in written.named_model_fallbacks.items():
        check_models(catalog, stand_ins, f"named_model_fallbacks.{name}")
    for index, vendor in enumerate(written.allow_providers or ()):
        check_vendor(catalog, vendor, f"allow_providers[{index}]")
    await office.directory.save_policy(org, written)


async def delete_policy(office: Office, org: str, name: str) -> None:
    """Forget a policy of an organisation's; under its name the built-in one holds again.

    Raises:
        NotFound: There is no such organisation, or no such policy.
        Conflict: It is the built-in one, or keys name it.
    """
    found = await policy(office, org, name)
    if found is BUILT_IN_POLICY:
        raise Conflict(f"The policy {name!r} is built in and cannot be deleted.", code="in_use")
    if name != BUILT_IN_POLICY.name:
        now_ms = office.now_ms()
        using = [key.id for key in await office.store.keys(org) if name in key.policies and key.is_live(now_ms)]
        if using:
            raise Conflict(
                f"Keys name the policy {name!r} ({len(using)}, such as {using[0]!r}). Give them other policies first.",
                code="in_use",
            )
    await office.directory.delete_policy(org, name)


async def save_own_key(office: Office, org: str, vendor: str, secret: str) -> OwnKey:
    """Seal and keep an organisation's own key at a vendor.

    Raises:
        NotFound: There is no such organisation.
        InvalidRequest: There is no such vendor, or none that takes a key.
        Overloaded: There is no key to seal with.
    """
    workspace = await office.workspace(org)
    catalog = office.offers().of(workspace).catalog
    check_vendor(catalog, vendor, "vendor")
    if catalog.vendors[vendor].key_env is None:
        raise InvalidRequest(f"{vendor!r} is called without a key of one's own.", param="vendor")
    if office.sealer is None:
        raise Overloaded(
            "This gateway has no key to seal with, so it cannot keep the keys of others. Set one up.",
            code="sealing_unavailable",
        )
    sealed = await office.sealer.seal(secret.encode(), own_key_place(org, vendor))
    hint = secret[-4:] if len(secret) >= HINTED else ""
    kept = OwnKey(org=org, vendor=vendor, sealed=sealed, hint=hint, created_ms=office.now_ms())
    await office.directory.save_own_key(kept)
    return kept


async def delete_own_key(office: Office, org: str, vendor: str) -> None:
    """Forget an organisation's own key at a vendor.

    Raises:
        NotFound: There is no such organisation, or it has no such key.
    """
    if vendor not in (await office.workspace(org)).own_keys:
        raise NotFound(f"{org!r} has no key of its own at {vendor!r}.", code="key_not_found")
    await office.directory.delete_own_key(org, vendor)


async def catalog(office: Office, org: str) -> str:
    """The TOML of an organisation's own catalog.

    Raises:
        NotFound: There is no such organisation, or it has none.
    """
    found = (await office.workspace(org)).catalog
    if found is None:
        raise NotFound(f"{org!r} has no catalog of its own.", code="catalog_not_found")
    return found


async def save_catalog(office: Office, org: str, toml: str) -> int:
    """Check and keep the TOML of an organisation's own catalog; returns how many models it holds.

    Raises:
        NotFound: There is no such organisation.
        InvalidRequest: It is too large, or wrong: line and field are named.
    """
    await office.organisation(org)
    if len(toml.encode()) > LARGEST_CATALOG:
        raise InvalidRequest(f"An organisation's catalog may have {LARGEST_CATALOG // 1024} KB at most.")
    try:
        count = office.offers().check(toml)
    except CatalogError as error:
        raise InvalidRequest(str(error)) from error
    await office.directory.save_catalog(org, toml)
    return count


async def delete_catalog(office: Office, org: str) -> None:
    """Take an organisation's own catalog away.

    Raises:
        NotFound: There is no such organisation, or it has none.
    """
    await catalog(office, org)
    await office.directory.save_catalog(org, None)


def _no_policy(org: str, name: str) -> NotFound:
    return NotFound(f"{org!r} has no policy {name!r}.", code="policy_not_found")

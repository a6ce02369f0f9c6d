"""Says whether an address may be fetched from: public ones only, in no disguise; pure."""

import ipaddress
import re
from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052
_CLOUD_METADATA = frozenset({IPv4Address("168.63.129.16")})  # Azure's; the others' are link-local or private
_NUMERIC_LABEL = re.compile(r"^(\d+|0[xX][0-9a-fA-F]*)$")


def looks_numeric(host: str) -> bool:
    """Whether a URL parser might take a host for an IPv4 address (WHATWG URL, "ends in a number checker")."""
    labels = host.rstrip(".").split(".")
    return bool(_NUMERIC_LABEL.match(labels[-1]))


def plain_address(host: str) -> Address | None:
    """The address that a host spells out in its one canonical form, or None."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet, also after the address that it embeds is looked at."""
    if isinstance(address, IPv6Address):
        embedded = _embedded(address)
        if embedded is not None:
            return is_public(embedded)
        if address.teredo is not None:
            return False
    return address.is_global and not address.is_multicast and address not in _CLOUD_METADATA


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else None

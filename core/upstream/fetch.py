"""Fetches images and files that callers name by URL, for hosts that take bytes only; the one place that does.

It speaks https only, connects to the very address that it checked, checks each redirect anew, and bounds size and time.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias
from urllib.parse import SplitResult, urljoin, urlsplit

import httpx

from core.errors import InvalidRequest
from core.ports import Clock
from core.providers.base import Media, RemoteMedia
from core.upstream.addresses import Address, is_public, looks_numeric, plain_address
from core.upstream.client import body_of
from core.upstream.mime import mime_type_of
from core.waiting import finish_by

LARGEST_BYTES = 20 * 1024 * 1024
LONGEST_S = 15.0
MOST_REDIRECTS = 3
REDIRECTS = frozenset({301, 302, 303, 307, 308})

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[Address]]]
"""The addresses of a host name and port; raises `OSError` when there is none."""


async def system_resolve(host: str, port: int) -> Sequence[Address]:
    """What the system's resolver says."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = (plain_address(str(sockaddr[0])) for *_, sockaddr in found)
    return [address for address in addresses if address is not None]


class Fetcher:
    """Fetches remote media.

    Args:
        transport: The HTTP transport; it must honour httpx's `sni_hostname` extension.
        clock: For the time limit.
        resolve: Finds a host's addresses.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport, clock: Clock, resolve: Resolve = system_resolve) -> None:
        self._transport = transport
        self._clock = clock
        self._resolve = resolve

    async def fetch(self, remote: RemoteMedia) -> Media:
        """The bytes behind a URL.

        Raises:
            InvalidRequest: It may not be fetched, cannot be had, is too large or too slow; `param` is the URL's field.
        """
        try:
            return await finish_by(self._clock, self._clock.monotonic() + LONGEST_S, self._follow(remote))
        except TimeoutError:
            raise _refusal(remote, f"it did not arrive within {LONGEST_S:.0f} seconds") from None
        except (httpx.HTTPError, OSError) as error:
            raise _refusal(remote, "its server could not be reached, or broke off") from error

    async def _follow(self, remote: RemoteMedia) -> Media:
        url = remote.url
        for _ in range(MOST_REDIRECTS + 1):
            response = await self._get(remote, url)
            try:
                if response.status_code not in REDIRECTS:
                    return await self._read(remote, response)
                url = urljoin(url, response.headers.get("location", ""))
            finally:
                await response.aclose()
        raise _refusal(remote, f"it was redirected more than {MOST_REDIRECTS} times")

    async def _get(self, remote: RemoteMedia, url: str) -> httpx.Response:
        parts, host, port = _checked_parts(remote, url)
        address = await self._checked_address(remote, host, port)
        literal = f"[{address}]" if address.version == 6 else str(address)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        request = httpx.Request(
            "GET",
            f"https://{literal}:{port}{path}",
            headers={"host": host if port == 443 else f"{host}:{port}", "accept-encoding": "identity"},
            extensions={
                "sni_hostname": host,
                "timeout": dict.fromkeys(("connect", "read", "write", "pool"), LONGEST_S),
            },
        )
        return await self._transport.handle_async_request(request)

    async def _checked_address(self, remote: RemoteMedia, host: str, port: int) -> Address:
        literal = plain_address(host)
        if literal is None and looks_numeric(host):
            raise _refusal(remote, "its address is written in an unusual form")
        addresses = [literal] if literal is not None else await self._resolve(host, port)
        if not addresses or not all(is_public(address) for address in addresses):
            raise _refusal(remote, "its address is not a public one")
        return addresses[0]

    async def _read(self, remote: RemoteMedia, response: httpx.Response) -> Media:
        if response.status_code != 200:
            raise _refusal(remote, f"its server answered with status {response.status_code}")
        announced = response.headers.get("content-length", "0")
        if announced.isdigit() and int(announced) > LARGEST_BYTES:
            raise _too_large(remote)
        data = bytearray()
        async for chunk in body_of(response):
            data += chunk
            if len(data) > LARGEST_BYTES:
                raise _too_large(remote)
        if not data:
            raise _refusal(remote, "there is nothing in it")
        return Media(bytes(data), mime_type_of(response.headers.get("content-type", ""), bytes(data[:16])))


def _checked_parts(remote: RemoteMedia, url: str) -> tuple[SplitResult, str, int]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 443
        ascii_host = (host or "").encode("idna").decode("ascii") if host and ":" not in host else host
    except ValueError:
        raise _refusal(remote, "it is not a valid URL") from None
    if parts.scheme != "https":
        raise _refusal(remote, "only https URLs are fetched")
    if parts.username is not None or parts.password is not None:
        raise _refusal(remote, "it holds a user name or password")
    if not ascii_host:
        raise _refusal(remote, "it names no host")
    return parts, ascii_host, port


def _refusal(remote: RemoteMedia, why: str) -> InvalidRequest:
    shown = remote.url if len(remote.url) <= 200 else remote.url[:200] + "…"
    return InvalidRequest(
        f"{shown} could not be fetched: {why}. Send the content itself as a base64 data URL, or another URL.",
        param=remote.param,
    )


def _too_large(remote: RemoteMedia) -> InvalidRequest:
    return _refusal(remote, f"it is larger than {LARGEST_BYTES // 1024 // 1024} MB")

"""Transports for httpx: every SDK that is built on it sees images, with one argument.

    OpenAI(http_client=DefaultHttpx2Client(transport=photic.httpx.Transport()))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.to_thread
import httpx

from ._exchange import LARGE, MAY_BLAME_MEDIA, Exchange, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import Policy, Profile, Repaired

__all__ = ["AsyncTransport", "Transport"]

_LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=100)


class Transport(httpx.BaseTransport):
    """Repairs requests with conversations, and sends everything through another transport.

    `transport` sends the requests; a new `httpx.HTTPTransport` if absent. A rejection that blames
    the images is answered with a request that is repaired further, at most twice. Replies are passed
    on as they come. `on_repair` is called with every `Repaired`.
    """

    def __init__(
        self,
        transport: httpx.BaseTransport | None = None,
        *,
        model: str | None = None,
        profile: Profile | str | None = None,
        policy: Policy | None = None,
        on_repair: Callable[[Repaired], None] | None = None,
    ) -> None:
        self._transport = transport or httpx.HTTPTransport(limits=_LIMITS)
        self._settings = Settings(model, profile, policy, on_repair)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _exchange(self._settings, request)
        if exchange is None:
            return self._transport.handle_request(request)
        body = exchange.first(request.read())
        response = self._transport.handle_request(_with(request, body))
        rejected: httpx.Response | None = None
        while response.status_code in MAY_BLAME_MEDIA:
            response.read()
            better = exchange.again(response.status_code, response.text)
            if better is None:
                return rejected or response
            rejected = rejected or response
            response.close()
            response = self._transport.handle_request(_with(request, better))
        return response

    def close(self) -> None:
        self._transport.close()


class AsyncTransport(httpx.AsyncBaseTransport):
    """The asynchronous form of `Transport`. Large bodies are repaired in a thread."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        model: str | None = None,
        profile: Profile | str | None = None,
        policy: Policy | None = None,
        on_repair: Callable[[Repaired], None] | None = None,
    ) -> None:
        self._transport = transport or httpx.AsyncHTTPTransport(limits=_LIMITS)
        self._settings = Settings(model, profile, policy, on_repair)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _exchange(self._settings, request)
        if exchange is None:
            return await self._transport.handle_async_request(request)
        original = await request.aread()
        if len(original) > LARGE:
            body = await anyio.to_thread.run_sync(exchange.first, original)
        else:
            body = exchange.first(original)
        response = await self._transport.handle_async_request(_with(request, body))
        rejected: httpx.Response | None = None
        while response.status_code in MAY_BLAME_MEDIA:
            await response.aread()
            better = await anyio.to_thread.run_sync(
                exchange.again, response.status_code, response.text
            )
            if better is None:
                return rejected or response
            rejected = rejected or response
            await response.aclose()
            response = await self._transport.handle_async_request(_with(request, better))
        return response

    async def aclose(self) -> None:
        await self._transport.aclose()


def _exchange(settings: Settings, request: httpx.Request) -> Exchange | None:
    url = request.url
    return Exchange.of(settings, request.method, url.raw_path.decode(), url.host, request.headers)


def _with(request: httpx.Request, body: bytes) -> httpx.Request:
    """Returns the request with another body. The headers of its length are made again."""
    if body is request.content:
        return request
    headers = [
        (name, value)
        for name, value in request.headers.raw
        if name.lower() not in (b"content-length", b"transfer-encoding")
    ]
    return httpx.Request(
        request.method, request.url, headers=headers, content=body, extensions=request.extensions
    )

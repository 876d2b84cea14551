"""Middleware for Anthropic's SDK. It sees the body before it is signed, also on Bedrock and Vertex.

    Anthropic(middleware=[photic.anthropic.middleware()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio.to_thread
from anthropic import Middleware

from ._exchange import MAY_BLAME_MEDIA, Exchange, Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from . import Policy, Profile, Repaired

__all__ = ["middleware"]

MAX_LINKS = 100
"""The number of middleware that are followed to find the client of a request."""


class _Repairing(Middleware):
    """Repairs the bodies of messages, in synchronous and asynchronous clients."""

    def __init__(self, settings: Settings, host: str | None) -> None:
        self._settings = settings
        self._host = host

    def handle(self, request: Any, call_next: Callable[[Any], Any]) -> Any:
        exchange = self._exchange(request, call_next)
        if exchange is None:
            return call_next(request)
        body = exchange.first_of(request.json)
        response = call_next(_with(request, body))
        rejected = None
        while response.status_code in MAY_BLAME_MEDIA:
            better = exchange.again(response.status_code, response.text())
            if better is None:
                return rejected or response
            rejected = rejected or response
            response = call_next(_with(request, _read(better)))
        return response

    async def handle_async(
        self, request: Any, call_next: Callable[[Any], Awaitable[Any]]
    ) -> Any:
        exchange = self._exchange(request, call_next)
        if exchange is None:
            return await call_next(request)
        body = await anyio.to_thread.run_sync(exchange.first_of, request.json)
        response = await call_next(_with(request, body))
        rejected = None
        while response.status_code in MAY_BLAME_MEDIA:
            text = await response.text()
            better = await anyio.to_thread.run_sync(exchange.again, response.status_code, text)
            if better is None:
                return rejected or response
            rejected = rejected or response
            response = await call_next(_with(request, _read(better)))
        return response

    def _exchange(self, request: Any, call_next: Any) -> Exchange | None:
        url = urlsplit(request.url)
        is_turn = request.method.lower() == "post" and url.path.endswith("/messages")
        if not is_turn or not isinstance(request.json, dict):
            return None
        host = self._host or url.netloc or _host_behind(call_next)
        return Exchange(self._settings, "anthropic", None, host)


def middleware(
    *,
    model: str | None = None,
    host: str | None = None,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
    on_repair: Callable[[Repaired], None] | None = None,
) -> Middleware:
    """Returns the middleware for a client, synchronous or asynchronous.

    `host` is the host whose limits apply; that of the client if absent.
    """
    return _Repairing(Settings(model, profile, policy, on_repair), host)


def _host_behind(call_next: Any) -> str | None:
    """Returns the host, with its port, of the client that a chain of middleware ends in.

    The SDK gives its middleware only the path of a request. Each link of the chain holds the next one, and the last
    link holds the client. If a version of the SDK differs, the model alone decides about the limits.
    """
    link = call_next
    for _ in range(MAX_LINKS):
        names = getattr(getattr(link, "__code__", None), "co_freevars", ())
        held = dict(zip(names, getattr(link, "__closure__", None) or (), strict=False))
        if "self" in held:
            base = getattr(held["self"].cell_contents, "base_url", None)
            return base.netloc.decode() if base is not None else None
        if "call_next" not in held:
            return None
        link = held["call_next"].cell_contents
    return None


def _with(request: Any, body: Any) -> Any:
    return request if body is request.json else request.copy(body=body)


def _read(body: bytes) -> Any:
    import json

    return json.loads(body)

"""The transports of `photic.httpx` and `photic.httpx2`: one code for both libraries, whose classes have the same shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import anyio.to_thread

from ._exchange import LARGE, MAY_BLAME_MEDIA, Exchange, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import Policy, Profile, Repaired


class AnyRequest(Protocol):
    """A request of either library."""

    method: str
    url: Any
    headers: Any
    extensions: Any

    @property
    def content(self) -> bytes: ...
    def read(self) -> bytes: ...
    async def aread(self) -> bytes: ...


class AnyResponse(Protocol):
    """A response of either library."""

    status_code: int

    @property
    def text(self) -> str: ...
    def read(self) -> bytes: ...
    def close(self) -> None: ...
    async def aread(self) -> bytes: ...
    async def aclose(self) -> None: ...


Below = TypeVar("Below")
"""A transport of the library."""
Request = TypeVar("Request", bound=AnyRequest)
Response = TypeVar("Response", bound=AnyResponse)


class _Repairing(Generic[Below]):
    """What both forms have in common."""

    _library: ClassVar[Any]
    """The module of the library."""
    _kind: ClassVar[str]
    """The name of the library's own transport."""

    def __init__(
        self,
        transport: Below | None = None,
        *,
        model: str | None = None,
        profile: Profile | str | None = None,
        policy: Policy | None = None,
        on_repair: Callable[[Repaired], None] | None = None,
    ) -> None:
        self._below: Any = transport or self._new()
        self._settings = Settings(model, profile, policy, on_repair)

    def _new(self) -> Any:
        limits = self._library.Limits(max_connections=1000, max_keepalive_connections=100)
        return getattr(self._library, self._kind)(limits=limits)

    def _exchange(self, request: AnyRequest) -> Exchange | None:
        url = request.url
        path = url.raw_path.decode()
        # Local servers are known by their port.
        host = url.netloc.decode()
        return Exchange.of(self._settings, request.method, path, host, request.headers)


class Transport(_Repairing[Below], Generic[Below, Request, Response]):
    """The synchronous form."""

    _kind = "HTTPTransport"

    def handle_request(self, request: Request) -> Response:
        send: Callable[[Request], Response] = self._below.handle_request
        exchange = self._exchange(request)
        if exchange is None:
            return send(request)
        body = exchange.first(request.read())
        response = send(_with(request, body))
        rejected: Response | None = None
        while response.status_code in MAY_BLAME_MEDIA:
            response.read()
            better = exchange.again(response.status_code, response.text)
            if better is None:
                return rejected or response
            rejected = rejected or response
            response.close()
            response = send(_with(request, better))
        return response

    def close(self) -> None:
        self._below.close()


class AsyncTransport(_Repairing[Below], Generic[Below, Request, Response]):
    """The asynchronous form. Large bodies are repaired in a thread."""

    _kind = "AsyncHTTPTransport"

    async def handle_async_request(self, request: Request) -> Response:
        exchange = self._exchange(request)
        if exchange is None:
            return await self._send(request)
        original = await request.aread()
        if len(original) > LARGE:
            body = await anyio.to_thread.run_sync(exchange.first, original)
        else:
            body = exchange.first(original)
        response = await self._send(_with(request, body))
        rejected: Response | None = None
        while response.status_code in MAY_BLAME_MEDIA:
            await response.aread()
            better = await anyio.to_thread.run_sync(
                exchange.again, response.status_code, response.text
            )
            if better is None:
                return rejected or response
            rejected = rejected or response
            await response.aclose()
            response = await self._send(_with(request, better))
        return response

    async def aclose(self) -> None:
        await self._below.aclose()

    async def _send(self, request: Request) -> Response:
        response: Response = await self._below.handle_async_request(request)
        return response


def _with(request: Request, body: bytes) -> Request:
    """Returns the request with another body. The headers of its length are made again."""
    if body is request.content:
        return request
    headers = [
        (name, value)
        for name, value in request.headers.raw
        if name.lower() not in (b"content-length", b"transfer-encoding")
    ]
    make: Any = type(request)
    changed: Request = make(
        request.method, request.url, headers=headers, content=body, extensions=request.extensions
    )
    return changed

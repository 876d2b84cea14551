"""Clients of providers that repair, made from those that a framework holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._exchange import Settings

_MARK = "_photic"
"""The member of a holder with the clients that it had before. Closed with them, they would close their connections."""


def install_once(
    model: Any, holder: Any, install: Callable[[], list[Any] | None], advice: str
) -> None:
    """Installs repair in the holder of a model's clients, unless it is there already.

    `install` returns the clients that the holder had before, or `None` if it knows none of them.
    """
    if getattr(holder, _MARK, None) is not None:
        return
    before = install()
    if before is None:
        name = type(model).__name__
        raise TypeError(f"cannot install photic in `{name}`: {advice}, or use the gateway")
    object.__setattr__(holder, _MARK, before)


def repairing(client: Any, settings: Settings) -> Any | None:
    """Returns a client like this one that repairs, over the connections that it has.

    It knows the clients of OpenAI and Anthropic, synchronous and asynchronous. `bedrock-runtime` of boto3 is
    changed in place. Returns `None` for others.
    """
    if hasattr(client, "middleware") and hasattr(client, "with_options"):
        from . import anthropic

        middleware = anthropic.middleware(host=client.base_url.netloc.decode(), **settings.options())
        return client.with_options(middleware=[*client.middleware, middleware])
    if hasattr(client, "with_options") and hasattr(client, "_client"):
        return client.with_options(http_client=_over(client._client, settings))
    if hasattr(client, "meta") and hasattr(client.meta, "events"):
        from . import boto3

        return boto3.install(client, **settings.options())
    return None


def _over(below: Any, settings: Settings) -> Any:
    """Returns an HTTP client that repairs, over the connections of another one."""
    library: Any
    ours: Any
    if any(base.__module__.startswith("httpx2") for base in type(below).__mro__):
        import httpx2 as library

        from . import httpx2 as ours
    else:
        import httpx as library

        from . import httpx as ours
    is_async = isinstance(below, library.AsyncClient)
    make = ours.AsyncTransport if is_async else ours.Transport
    options = settings.options()
    mounts = {
        pattern.pattern: make(one, **options) if one is not None else None
        for pattern, one in below._mounts.items()
    }
    client = library.AsyncClient if is_async else library.Client
    return client(
        transport=make(below._transport, **options),
        mounts=mounts,
        auth=below.auth,
        cookies=below.cookies,
        default_encoding=below._default_encoding,
        event_hooks=below.event_hooks,
        follow_redirects=below.follow_redirects,
        headers=below.headers,
        max_redirects=below.max_redirects,
        params=below.params,
        timeout=below.timeout,
        trust_env=below.trust_env,
    )

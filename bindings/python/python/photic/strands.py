"""Middleware for Strands' agents, for every kind of model.

    agent.add_middleware(InvokeModelStage.Input, photic.strands.middleware())
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from . import Profile
from ._exchange import Exchange, Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from . import Policy, Repaired

__all__ = ["middleware"]


def middleware(
    *,
    model: str | None = None,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
    on_repair: Callable[[Repaired], None] | None = None,
) -> Callable[[Any], Awaitable[Any]]:
    """Returns the handler for `agent.add_middleware(InvokeModelStage.Input, ...)`.

    It repairs the messages of one request; those that the agent keeps stay as they are. `BedrockModel` can have
    `photic.boto3.install(model.client)` instead, which sees the request itself.
    """
    settings = Settings(model, profile, policy, on_repair)

    async def repaired(context: Any) -> Any:
        name = context.model.get_config().get("model_id")
        chosen = settings
        if settings.profile is None and type(context.model).__name__ != "BedrockModel":
            # The other models move images of tool results themselves, if they have to.
            native = Profile.of("bedrock-converse", name).changed("placement", image="native")
            chosen = Settings(settings.model, native, settings.policy, settings.on_repair)
        exchange = Exchange(chosen, "bedrock-converse", name, None)
        body = {"messages": _as_text(context.messages)}
        sent = await anyio.to_thread.run_sync(exchange.first_of, body)
        return context if sent is body else context.replace(messages=_as_bytes(sent["messages"]))

    return repaired


def _as_text(value: Any) -> Any:
    """Returns messages with base64 for the bytes in them."""
    if isinstance(value, dict):
        return {name: _as_text(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_as_text(one) for one in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _as_bytes(value: Any) -> Any:
    """Returns messages with the bytes of sources."""
    if isinstance(value, list):
        return [_as_bytes(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: {**one, "bytes": base64.b64decode(one["bytes"])}
        if name == "source" and isinstance(one, dict) and isinstance(one.get("bytes"), str)
        else _as_bytes(one)
        for name, one in value.items()
    }

"""A callback for the agents of Google's ADK.

    LlmAgent(model="gemini-3-pro-preview", before_model_callback=photic.adk.before_model())
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from google.genai import types

from ._exchange import Exchange, Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from . import Policy, Profile, Repaired

__all__ = ["before_model"]


def before_model(
    *,
    model: str | None = None,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
    on_repair: Callable[[Repaired], None] | None = None,
) -> Callable[[Any, Any], Awaitable[None]]:
    """Returns the callback for `LlmAgent(before_model_callback=...)`.

    It repairs the contents of one request; the session keeps what the tools returned.
    """
    settings = Settings(model, profile, policy, on_repair)

    def repaired(name: str | None, contents: list[types.Content]) -> list[types.Content] | None:
        plain = [one.model_dump(by_alias=True, exclude_none=True) for one in contents]
        try:
            body = json.dumps({"contents": plain}, default=_plain).encode()
        except (TypeError, ValueError):
            return None  # a tool returned an object that only ADK knows how to write
        exchange = Exchange(settings, "gemini", name, None)
        sent = exchange.first(body)
        if sent is body:
            return None
        written = json.loads(sent)["contents"]
        return [types.Content.model_validate_json(json.dumps(one)) for one in written]

    async def before(callback_context: Any, llm_request: Any) -> None:
        contents = await anyio.to_thread.run_sync(
            repaired, llm_request.model, llm_request.contents
        )
        if contents is not None:
            llm_request.contents = contents

    return before


def _plain(value: Any) -> Any:
    """Returns what JSON has no form for: bytes, and the names of enumerations."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if hasattr(value, "value"):
        return value.value
    raise TypeError(type(value).__name__)

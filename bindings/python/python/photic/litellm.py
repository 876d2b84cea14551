"""A hook for LiteLLM, the library and the proxy.

    litellm.callbacks = [photic.litellm.PhoticHook()]
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from litellm.integrations.custom_logger import CustomLogger

from ._exchange import Exchange, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import Policy, Profile, Repaired, Wire

__all__ = ["PhoticHook"]

_WIRES: dict[str, Wire] = {
    "acompletion": "openai-chat",
    "aresponses": "openai-responses",
    "anthropic_messages": "anthropic",
    "completion": "openai-chat",
    "responses": "openai-responses",
}

_MEMBERS = {
    "anthropic": ("messages", "system", "tools"),
    "openai-chat": ("messages", "tools"),
    "openai-responses": ("input", "instructions", "tools"),
}
"""The members of a request that are repaired. The settings are LiteLLM's."""


class PhoticHook(CustomLogger):
    """Repairs requests after LiteLLM chose a deployment, before it writes them for the provider.

    LiteLLM calls it for asynchronous calls (`acompletion`, `aresponses`) and for all calls of its
    proxy. In the proxy's configuration: `callbacks: photic.litellm.hook`.
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        profile: Profile | str | None = None,
        policy: Policy | None = None,
        on_repair: Callable[[Repaired], None] | None = None,
    ) -> None:
        super().__init__()
        self._settings = Settings(model, profile, policy, on_repair)

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        name = getattr(call_type, "value", call_type) or "acompletion"
        wire = _WIRES.get(str(name))
        if wire is None:
            return None
        return self._repaired(kwargs, wire)

    def _repaired(self, kwargs: dict[str, Any], wire: Wire) -> dict[str, Any] | None:
        members = {name: kwargs[name] for name in _MEMBERS[wire] if kwargs.get(name) is not None}
        model = str(kwargs.get("model") or "")
        try:
            body = json.dumps({"model": model, **members}).encode()
        except (TypeError, ValueError):
            return None  # it holds objects of a framework that only LiteLLM knows
        exchange = Exchange(self._settings, wire, model.rpartition("/")[2] or None, None)
        sent = exchange.first(body)
        if sent is body:
            return None
        written = json.loads(sent)
        return {**kwargs, **{name: written[name] for name in members if name in written}}


hook = PhoticHook()
"""A hook with the defaults, for the configuration of LiteLLM's proxy."""

"""A capability for pydantic-ai's agents.

    Agent("openai:gpt-5.4", capabilities=[photic.pydantic_ai.Photic()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_ai.capabilities import AbstractCapability

from ._clients import install_once, repairing
from ._exchange import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import Policy, Profile, Repaired

    Model = TypeVar("Model")

__all__ = ["Photic", "install"]


def install(
    model: Model,
    *,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
    on_repair: Callable[[Repaired], None] | None = None,
) -> Model:
    """Repairs the requests of a model of OpenAI, Anthropic or Bedrock, and of all that use their APIs.

    Returns the model. Its provider is changed in place, once. Raises `TypeError` for another kind of model.
    """
    _install(model, Settings(None, profile, policy, on_repair))
    return model


def _install(model: Any, settings: Settings) -> None:
    for inner in getattr(model, "models", ()):  # a FallbackModel
        _install(inner, settings)
    if getattr(model, "models", None):
        return
    if hasattr(model, "wrapped"):
        return _install(model.wrapped, settings)
    provider = getattr(model, "_provider", None)
    advice = "give its provider an `http_client` with `photic.httpx2.AsyncTransport()`"
    install_once(model, provider, lambda: _repaired(model, provider, settings), advice)


def _repaired(model: Any, provider: Any, settings: Settings) -> list[Any] | None:
    """Gives a provider a client that repairs. Returns the one that it had, or `None` for another kind."""
    before = getattr(model, "client", None)
    client = repairing(before, settings) if provider is not None else None
    if client is None:
        return None
    if client is not before:
        provider._client = client
    return [before]


class Photic(AbstractCapability[Any]):
    """Repairs every request that an agent sends to its model."""

    def __init__(
        self,
        *,
        profile: Profile | str | None = None,
        policy: Policy | None = None,
        on_repair: Callable[[Repaired], None] | None = None,
    ) -> None:
        self._settings = Settings(None, profile, policy, on_repair)

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        _install(request_context.model, self._settings)
        return request_context

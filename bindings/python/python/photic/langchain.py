"""Middleware for LangChain's agents, and repair for its chat models.

    create_agent(model, tools, middleware=[photic.langchain.PhoticMiddleware()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from langchain.agents.middleware import AgentMiddleware

from ._clients import install_once, repairing
from ._exchange import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from . import Policy, Profile, Repaired

    Model = TypeVar("Model")

__all__ = ["PhoticMiddleware", "install"]


def install(
    model: Model,
    *,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
    on_repair: Callable[[Repaired], None] | None = None,
) -> Model:
    """Repairs the requests of a `ChatOpenAI`, an `AzureChatOpenAI` or a `ChatAnthropic`.

    Returns the model. It is changed in place, once. Raises `TypeError` for another kind of model.
    """
    settings = Settings(None, profile, policy, on_repair)
    advice = (
        "pass `http_client` with `photic.httpx2.Transport()` or `photic.httpx.Transport()` to it"
    )
    install_once(model, model, lambda: _repaired(model, settings), advice)
    return model


def _repaired(chat: Any, settings: Settings) -> list[Any] | None:
    """Gives a model clients that repair. Returns those that it had, or `None` for another kind of model."""
    clients: dict[str, Any] = {}
    if hasattr(type(chat), "_client") and hasattr(type(chat), "_async_client"):
        clients = {name: getattr(chat, name) for name in ("_client", "_async_client")}
    made = {name: repairing(client, settings) for name, client in clients.items()}
    # `ChatOllama` has clients of the same names, of another kind.
    if made and all(client is not None for client in made.values()):
        vars(chat).update(made)
        return list(clients.values())
    if not hasattr(chat, "root_client") or not hasattr(chat, "root_async_client"):
        return None
    before = [chat.root_client, chat.root_async_client]
    if chat.root_client is not None:
        chat.root_client = repairing(chat.root_client, settings)
        chat.client = chat.root_client.chat.completions
    if chat.root_async_client is not None:
        chat.root_async_client = repairing(chat.root_async_client, settings)
        chat.async_client = chat.root_async_client.chat.completions
    return before


class PhoticMiddleware(AgentMiddleware[Any, Any]):
    """Repairs every request that an agent sends to its model."""

    def __init__(
        self,
        *,
        profile: Profile | str | None = None,
        policy: Policy | None = None,
        on_repair: Callable[[Repaired], None] | None = None,
    ) -> None:
        super().__init__()
        self._options: dict[str, Any] = {
            "profile": profile,
            "policy": policy,
            "on_repair": on_repair,
        }

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        install(request.model, **self._options)
        return handler(request)

    async def awrap_model_call(
        self, request: Any, handler: Callable[[Any], Awaitable[Any]]
    ) -> Any:
        install(request.model, **self._options)
        return await handler(request)

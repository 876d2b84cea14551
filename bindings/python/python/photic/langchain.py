"""Middleware for LangChain's agents, and repair for its chat models.

    create_agent(model, tools, middleware=[photic.langchain.PhoticMiddleware()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from langchain.agents.middleware import AgentMiddleware

from ._clients import repairing
from ._exchange import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from . import Policy, Profile, Repaired

    Model = TypeVar("Model")

__all__ = ["PhoticMiddleware", "install"]

_MARK = "_photic"
"""The member of a model that holds the clients it had before. Closed with them, they would close theirs."""


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
    chat: Any = model
    if getattr(chat, _MARK, None) is not None:
        return model
    settings = Settings(None, profile, policy, on_repair)
    before: list[Any] = []
    clients: dict[str, Any] = {}
    if hasattr(type(chat), "_client") and hasattr(type(chat), "_async_client"):
        clients = {name: getattr(chat, name) for name in ("_client", "_async_client")}
    made = {name: repairing(client, settings) for name, client in clients.items()}
    # `ChatOllama` has clients of the same names, of another kind.
    if made and all(client is not None for client in made.values()):
        before += clients.values()
        vars(chat).update(made)
    elif hasattr(chat, "root_client") and hasattr(chat, "root_async_client"):
        before += [chat.root_client, chat.root_async_client]
        if chat.root_client is not None:
            chat.root_client = repairing(chat.root_client, settings)
            chat.client = chat.root_client.chat.completions
        if chat.root_async_client is not None:
            chat.root_async_client = repairing(chat.root_async_client, settings)
            chat.async_client = chat.root_async_client.chat.completions
    else:
        raise TypeError(
            f"cannot install photic in `{type(chat).__name__}`: pass `http_client` with "
            "`photic.httpx2.Transport()` or `photic.httpx.Transport()` to it, or use the gateway"
        )
    object.__setattr__(chat, _MARK, before)
    return model


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

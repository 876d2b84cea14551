"""A filter for the input of models in OpenAI's Agents SDK. It also reaches requests that go over a WebSocket.

    RunConfig(call_model_input_filter=photic.openai_agents.input_filter())
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio.to_thread
from agents import OpenAIResponsesModel
from agents.run import CallModelData, ModelInputData

from . import Profile
from ._exchange import Exchange, Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from . import Policy, Repaired

__all__ = ["input_filter"]


def input_filter(
    *,
    model: str | None = None,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
    on_repair: Callable[[Repaired], None] | None = None,
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """Returns the filter for `RunConfig.call_model_input_filter`.

    The history that the SDK keeps stays as it is. Models that are not asked over the Responses API get the
    images of a tool in a message behind its result.
    """
    settings = Settings(model, profile, policy, on_repair)

    async def filtered(data: CallModelData[Any]) -> ModelInputData:
        given = data.model_data
        name = _name(data.agent.model) or settings.model
        chosen = settings
        if settings.profile is None and not _is_responses(data.agent.model):
            moved = Profile.of("openai-responses", name).changed(
                "placement", image="user_after_tools", document="user_after_tools"
            )
            chosen = Settings(settings.model, moved, settings.policy, settings.on_repair)
        exchange = Exchange(chosen, "openai-responses", name, None)
        body = {"model": name or "", "input": list(given.input)}
        sent = await anyio.to_thread.run_sync(exchange.first_of, body)
        return given if sent is body else ModelInputData(sent["input"], given.instructions)

    return filtered


def _name(model: Any) -> str | None:
    """Returns the name of an agent's model."""
    found = model if isinstance(model, str) else getattr(model, "model", None)
    return str(found).rpartition("/")[2] if found else None


def _is_responses(model: Any) -> bool:
    """Returns `True` if a model is asked over the Responses API, as OpenAI's are unless one says otherwise."""
    return model is None or isinstance(model, str | OpenAIResponsesModel)

"""Repair for boto3: requests to Bedrock are changed before they are signed.

    photic.boto3.install(boto3.client("bedrock-runtime"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from ._exchange import Exchange, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import Policy, Profile, Repaired

    Client = TypeVar("Client")

__all__ = ["install"]


def install(
    client: Client,
    *,
    model: str | None = None,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
    on_repair: Callable[[Repaired], None] | None = None,
) -> Client:
    """Repairs the requests of a `bedrock-runtime` client: Converse and InvokeModel, streamed or not.

    Returns the client. A rejected request is not sent again: boto3 has no place for that.
    """
    settings = Settings(model, profile, policy, on_repair)

    def before_call(params: dict[str, Any], **_: Any) -> None:
        body = params.get("body")
        if not isinstance(body, bytes | bytearray):
            return
        url = urlsplit(params["url"])
        exchange = Exchange.of(settings, params["method"], url.path, url.netloc, {})
        if exchange is not None:
            params["body"] = exchange.first(bytes(body))

    events: Any = client
    events.meta.events.register(
        "before-call.bedrock-runtime", before_call, unique_id="photic-repair"
    )
    return client

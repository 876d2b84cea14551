"""One request to a provider: repaired before it is sent, and repaired again after rejections."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import Policy, Profile, Rejection, Repaired, _native, repair, route

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from . import Buffer, Wire

MAX_RETRIES = 2
"""The number of times that a rejected request is sent again."""

MAY_BLAME_MEDIA = frozenset({400, 404, 406, 413, 415, 422, 500})
"""The statuses of errors that may be about images. Some local servers answer 500."""

LARGE = 256 * 1024
"""Bodies of more bytes than this are repaired in a thread by asynchronous clients."""


class Settings:
    """The choices that all requests of a client share."""

    __slots__ = ("model", "on_repair", "policy", "profile")

    def __init__(
        self,
        model: str | None = None,
        profile: Profile | str | None = None,
        policy: Policy | None = None,
        on_repair: Callable[[Repaired], None] | None = None,
    ) -> None:
        self.model = model
        self.profile = profile
        self.policy = policy
        self.on_repair = on_repair

    def options(self) -> dict[str, Any]:
        """Returns the choices as the arguments that they were."""
        return {
            "model": self.model,
            "profile": self.profile,
            "policy": self.policy,
            "on_repair": self.on_repair,
        }


class Exchange:
    """A request with a conversation."""

    __slots__ = ("host", "model", "original", "rejections", "sent", "settings", "wire")

    def __init__(self, settings: Settings, wire: Wire, model: str | None, host: str | None) -> None:
        self.settings = settings
        self.wire = wire
        self.model = settings.model or model
        self.host = host
        self.rejections: list[Rejection] = []
        self.original: Buffer = b""
        self.sent: bytes = b""

    @classmethod
    def of(
        cls, settings: Settings, method: str, path: str, host: str, headers: Mapping[str, str]
    ) -> Exchange | None:
        """Returns the exchange of an HTTP request, or `None` if it is to be sent as it is.

        That is every request that is not a JSON body on the path of a conversation, a compressed
        body, and one with a signature of AWS that a changed body would break.
        """
        if method != "POST" or "json" not in headers.get("content-type", "application/json"):
            return None
        if headers.get("content-encoding"):
            return None
        signed = headers.get("authorization", "")
        if _native.is_body_signed(signed, headers.get("x-amz-content-sha256")):
            return None
        found = route(path, host)
        return cls(settings, found.wire, found.model, found.host or None) if found else None

    def first(self, body: Buffer) -> bytes:
        """Returns the body to send."""
        self.original = body
        self.sent = self._repaired()
        return self.sent

    def again(self, status: int, text: str) -> bytes | None:
        """Returns another body to send after a rejection, or `None` if nothing else can be tried."""
        if len(self.rejections) >= MAX_RETRIES:
            return None
        self.rejections.append(Rejection(status, text))
        before, self.sent = self.sent, self._repaired()
        return None if self.sent == before else self.sent

    def _repaired(self) -> bytes:
        settings = self.settings
        done = repair(
            self.original,
            wire=self.wire,
            model=self.model,
            host=self.host,
            profile=settings.profile,
            policy=settings.policy,
            rejections=self.rejections,
        )
        if settings.on_repair is not None:
            settings.on_repair(done)
        return done.body

    def first_of(self, body: Any) -> Any:
        """Returns the body to send, for a body that is an object; the object itself if unchanged."""
        try:
            text = json.dumps(body).encode()
        except (TypeError, ValueError):
            return body  # it is no JSON; whoever made it knows how to send it
        sent = self.first(text)
        return body if sent is text else json.loads(sent)

"""Transports for httpx: every SDK that is built on it sees images, with one argument.

    OpenAI(http_client=DefaultHttpx2Client(transport=photic.httpx.Transport()))
"""

from __future__ import annotations

from typing import Any, ClassVar

import httpx

from . import _transports

__all__ = ["AsyncTransport", "Transport"]


class Transport(
    _transports.Transport[httpx.BaseTransport, httpx.Request, httpx.Response], httpx.BaseTransport
):
    """Repairs requests with conversations, and sends everything through another transport.

    `transport` sends the requests; a new `httpx.HTTPTransport` if absent. A rejection that blames
    the images is answered with a request that is repaired further, at most twice. Replies are passed
    on as they come. `on_repair` is called with every `Repaired`.
    """

    _library: ClassVar[Any] = httpx


class AsyncTransport(
    _transports.AsyncTransport[httpx.AsyncBaseTransport, httpx.Request, httpx.Response],
    httpx.AsyncBaseTransport,
):
    """The asynchronous form of `Transport`. Large bodies are repaired in a thread."""

    _library: ClassVar[Any] = httpx

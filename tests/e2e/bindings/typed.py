"""Read by mypy, never run: how the Python package is used, with the types that it promises."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import httpx
import httpx2

import photic
import photic.httpx
import photic.httpx2


def everything(body: bytes, view: memoryview, image: photic.ArrayLike) -> None:
    report = photic.check(body, "openai-chat", "gpt-5.4", host="api.openai.com")
    assert_type(report.findings, list[photic.Finding])
    assert_type(report.findings[0].hint, str)
    explanation = photic.explain(bytearray(body), to="anthropic")
    assert_type([medium.fate for medium in explanation.media], list[str])
    profile = photic.Profile.of("anthropic", "claude-sonnet-5").changed("limits", images=4)
    policy = photic.Policy(retention="newest(4)", max_images=8, purpose="converse")
    repaired = photic.repair(view, wire="anthropic", profile=profile, policy=policy)
    assert_type(repaired, photic.Repaired)
    assert_type(repaired.body, bytes)
    assert_type(repaired.fixes[0].message, str)
    assert_type(photic.lower(body, "gemini").is_changed, bool)
    assert_type(photic.view(Path("page.png"), region=(0, 0, 10, 10)).size, tuple[int, int])
    photic.view(image, fidelity="pixel")
    session = photic.Session("openai-chat", policy=policy)
    assert_type(session.repair(view).body, bytes)
    assert_type(session.figures, dict[str, int])
    route = photic.route("/v1/messages")
    if route is not None:
        photic.repair(body, wire=route.wire, model=route.model)
    photic.repair(body, wire="openai")  # type: ignore[arg-type]
    photic.repair({})  # type: ignore[arg-type]


def transports(policy: photic.Policy) -> None:
    def heard(repaired: photic.Repaired) -> None:
        print(repaired.fixes)

    httpx2.Client(transport=photic.httpx2.Transport(policy=policy, on_repair=heard))
    httpx.Client(transport=photic.httpx.Transport(httpx.HTTPTransport(http2=True)))
    httpx2.AsyncClient(transport=photic.httpx2.AsyncTransport(model="gpt-5.4"))

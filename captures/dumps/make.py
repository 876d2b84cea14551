"""Conversations as Python frameworks store them, dumped by the frameworks themselves."""

import asyncio
import base64
import json
import sys
import warnings
from datetime import datetime, timezone
from pathlib import Path

IMAGES = Path(__file__).parent.parent / "images"
OUT = Path(sys.argv[1])
ADDRESS = "https://example.com/cat.png"
NOON = datetime(2026, 11, 16, 12, tzinfo=timezone.utc)


def image(name):
    return (IMAGES / name).read_bytes()


def text(name):
    return base64.b64encode(image(name)).decode()


def keep(name, value):
    body = value if isinstance(value, str) else json.dumps(value)
    (OUT / f"{name}.json").write_text(body)


def langchain():
    from langchain_core.load import dumps
    from langchain_core.messages import (
        AIMessage, HumanMessage, SystemMessage, ToolMessage, message_to_dict, messages_to_dict,
    )
    from langchain_core.prompt_values import ChatPromptValue

    v0 = [
        SystemMessage("Look closely."),
        HumanMessage([
            {"type": "text", "text": "What do you see?"},
            {"type": "image", "source_type": "base64", "data": text("bars.png"), "mime_type": "image/png"},
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64," + text("page.jpg"), "detail": "high"}},
            {"type": "image", "source_type": "url", "url": ADDRESS},
        ]),
        AIMessage("I take two screenshots.", tool_calls=[
            {"name": "screenshot", "args": {"tab": 1}, "id": "call_a"},
            {"name": "screenshot", "args": {"tab": 2}, "id": "call_b"},
        ]),
        ToolMessage([
            {"type": "text", "text": "the first tab"},
            {"type": "image", "source_type": "base64", "data": text("disc.png"), "mime_type": "image/png"},
        ], tool_call_id="call_a", name="screenshot", artifact={"path": "/tmp/a.png"}),
        ToolMessage("the tab is gone", tool_call_id="call_b", name="screenshot", status="error"),
        AIMessage([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "A disc."}]),
        HumanMessage("Thank you. And now?"),
    ]
    v1 = [
        SystemMessage("Look closely."),
        HumanMessage(content_blocks=[
            {"type": "text", "text": "What do you see?"},
            {"type": "image", "base64": text("bars.png"), "mime_type": "image/png"},
            {"type": "image", "url": ADDRESS},
            {"type": "text-plain", "text": "a note", "mime_type": "text/plain"},
        ]),
        AIMessage(content_blocks=[
            {"type": "reasoning", "reasoning": "hm"},
            {"type": "text", "text": "I look."},
            {"type": "tool_call", "name": "screenshot", "args": {"tab": 1}, "id": "call_a"},
        ]),
        ToolMessage(content_blocks=[
            {"type": "text", "text": "the first tab"},
            {"type": "image", "base64": text("wave.webp"), "mime_type": "image/webp"},
            {"type": "file", "base64": text("disc.png"), "mime_type": "image/png"},
        ], tool_call_id="call_a"),
    ]
    keep("langchain-py-dict-v0", messages_to_dict(v0))
    keep("langchain-py-dict-v1", messages_to_dict(v1))
    keep("langchain-py-dumps-v0", dumps(v0))
    keep("langchain-py-dumps-v1", dumps(v1))
    keep("langchain-py-prompt-v0", dumps(ChatPromptValue(messages=v0)))
    keep("langchain-py-state-v1", {"messages": [m.model_dump(mode="json") for m in v1]})
    # A picture that a tool serialized by itself.
    called = AIMessage("I look.", tool_calls=[{"name": "screenshot", "args": {}, "id": "call_a"}])
    stringified = [*v0[:2], called, ToolMessage(json.dumps(message_to_dict(v0[3])["data"]["content"]), tool_call_id="call_a")]
    keep("langchain-py-dict-stringified", messages_to_dict(stringified))


def pydantic_ai():
    from pydantic_ai.messages import (
        BinaryContent, FilePart, ImageUrl, ModelMessagesTypeAdapter, ModelRequest, ModelResponse,
        RetryPromptPart, SystemPromptPart, TextPart, ThinkingPart, ToolCallPart, ToolReturnPart, UserPromptPart,
    )
    from pydantic_ai.usage import RequestUsage

    def picture(name, kind):
        return BinaryContent(image(name), media_type=kind)

    def request(*parts, **more):
        return ModelRequest(parts=list(parts), timestamp=NOON, **more)

    def response(*parts):
        return ModelResponse(parts=list(parts), timestamp=NOON, usage=RequestUsage(), model_name="some-model")

    asked = request(
        SystemPromptPart("Look closely.", timestamp=NOON),
        UserPromptPart(
            ["What do you see?", picture("bars.png", "image/png"), ImageUrl(ADDRESS)], timestamp=NOON
        ),
        instructions="Answer in one line.",
    )
    called = response(
        ThinkingPart("hm"),
        TextPart("I look."),
        ToolCallPart("screenshot", {"tab": 1}, "call_a"),
        ToolCallPart("screenshot", '{"tab":2}', "call_b"),
        ToolCallPart("screenshot", {"tab": 3}, "call_c"),
    )
    one = lambda *parts: ModelMessagesTypeAdapter.dump_json([asked, called, request(*parts)]).decode()
    keep("pydantic-ai-returns", one(
        ToolReturnPart("screenshot", picture("disc.png", "image/png"), "call_a", timestamp=NOON),
        ToolReturnPart("screenshot", ["the second tab", picture("page.jpg", "image/jpeg")], "call_b", timestamp=NOON),
        RetryPromptPart("no such tab", tool_name="screenshot", tool_call_id="call_c", timestamp=NOON),
        UserPromptPart("And now?", timestamp=NOON),
    ))
    keep("pydantic-ai-nested", one(
        ToolReturnPart("screenshot", {"tab": 1, "shot": picture("disc.png", "image/png")}, "call_a", timestamp=NOON),
        ToolReturnPart("screenshot", {"tab": 2}, "call_b", timestamp=NOON),
        ToolReturnPart("screenshot", "gone", "call_c", timestamp=NOON, outcome="failed"),
    ))
    drawn = response(TextPart("Here."), FilePart(picture("wave.webp", "image/webp")))
    keep("pydantic-ai-drawn", ModelMessagesTypeAdapter.dump_json(
        [asked, drawn, request(UserPromptPart([picture("page.jpg", "image/jpeg"), "Like this."], timestamp=NOON))]
    ).decode())


def mcp():
    from mcp import types

    picture = types.ImageContent(type="image", data=text("bars.png"), mimeType="image/png")
    blob = types.BlobResourceContents(uri="shot://1", mimeType="image/png", blob=text("disc.png"))
    said = {"tab": 1, "title": "Home"}
    results = {
        "image": types.CallToolResult(content=[types.TextContent(type="text", text="the first tab"), picture]),
        "resource": types.CallToolResult(
            content=[types.EmbeddedResource(type="resource", resource=blob),
                     types.ResourceLink(type="resource_link", name="cat", uri=ADDRESS, mimeType="image/png")]),
        "structured": types.CallToolResult(
            content=[types.TextContent(type="text", text=json.dumps(said, indent=2)), picture], structuredContent=said),
        "structured-only": types.CallToolResult(content=[picture], structuredContent={**said, "preview": text("disc.png")}),
        "error": types.CallToolResult(content=[types.TextContent(type="text", text="it failed"), picture], isError=True),
    }
    for name, result in results.items():
        keep(f"mcp-{name}", result.model_dump_json(by_alias=True, exclude_none=True))
    # As Python code that forgets the options dumps it: nulls, and the field names of the class.
    keep("mcp-nulls", results["image"].model_dump_json())
    answer = types.JSONRPCResponse(
        jsonrpc="2.0", id=1, result=results["image"].model_dump(by_alias=True, mode="json", exclude_none=True))
    keep("mcp-answer", answer.model_dump_json(by_alias=True, exclude_none=True))
    prompt = types.GetPromptResult(messages=[
        types.PromptMessage(role="user", content=types.TextContent(type="text", text="What do you see?")),
        types.PromptMessage(role="user", content=picture),
    ])
    keep("mcp-prompt", prompt.model_dump_json(by_alias=True, exclude_none=True))


def openwop():
    """No package to install: as its documents spell parts, and as its tests do."""
    ask = {"type": "text", "text": "What do you see?"}
    keep("openwop-documents", {
        "provider": "some", "model": "some-model", "systemPrompt": "Look closely.", "maxTokens": 64,
        "messages": [{"role": "user", "content": [
            ask,
            {"type": "image", "mimeType": "image/png", "data": text("bars.png")},
            {"type": "image", "mimeType": "image/png", "url": ADDRESS},
            {"type": "image", "mimeType": "image/png", "mediaRef": "blob:run-7/chart"},
            {"type": "document", "mimeType": "application/pdf", "data": "JVBERi0="},
        ]}],
    })
    keep("openwop-tests", {"messages": [{"role": "user", "content": [
        ask,
        {"type": "image", "mimeType": "image/png", "dataBase64": text("disc.png")},
        {"type": "image", "mimeType": "image/png", "dataBase64": "iVBORw0KGgo="},
        {"type": "file", "mimeType": "application/pdf", "dataBase64": "JVBERi0="},
    ]}]})


warnings.simplefilter("ignore")
langchain()
pydantic_ai()
mcp()
openwop()

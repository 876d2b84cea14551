"""Anthropic SDK for Python: the tool runner, and the loop written by hand."""
import json

from anthropic import Anthropic, beta_tool
from anthropic.lib.tools import ToolError

from flow import DESCRIPTION, NAME, PROMPT, SCHEMA, as_mcp, run


def block(p):
    if "text" in p:
        return {"type": "text", "text": p["text"]}
    if "url" in p:
        return {"type": "image", "source": {"type": "url", "url": p["url"]}}
    return {"type": "image", "source": {"type": "base64", "media_type": p["mediaType"], "data": p["data"]}}


def messages(capture):
    client = Anthropic(base_url=capture["url"], api_key="none", max_retries=0)
    history = [{"role": "user", "content": PROMPT}]
    settings = {"model": "claude-sonnet-4-6", "max_tokens": 1024, "messages": history}

    def answer(n):
        parts = capture["results"][n - 1]
        if capture["as"] == "mcp-text":
            return json.dumps(as_mcp(parts, capture["error"]))
        return [block(p) for p in parts]

    if capture["how"] == "settings":
        settings |= {
            "system": [{"type": "text", "text": "Answer in one sentence.", "cache_control": {"type": "ephemeral"}}],
            "stop_sequences": ["END"], "metadata": {"user_id": "user-7"}, "service_tier": "auto",
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}, "output_config": {"effort": "low"},
        }
    if capture["how"] in ("manual", "settings"):
        tools = [{"name": NAME, "description": DESCRIPTION, "input_schema": SCHEMA}]
        content = client.messages.create(**settings, tools=tools).content
        results = [{"type": "tool_result", "tool_use_id": use.id, "content": answer(**use.input)} for use in content]
        history += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
        client.messages.create(**settings, tools=tools)
        return

    @beta_tool
    def look(n: int):
        """Look through camera n."""
        if capture["error"]:
            raise ToolError(answer(n))  # the documented way to fail with a picture
        return answer(n)

    if capture["how"] == "stream":
        for stream in client.beta.messages.tool_runner(**settings, tools=[look], stream=True):
            stream.get_final_message()
        return
    extra = {"thread": False} if capture["how"] == "unthreaded" else {}
    client.beta.messages.tool_runner(**settings, **extra, tools=[look]).until_done()


run({"messages": messages})

"""The three APIs, by the providers' own SDKs: an answer to a question about a chart, which comes with
the question or as the result of a tool."""
import json

TOOL = "look"
SCHEMA = {"type": "object", "properties": {"source": {"type": "string"}}, "required": ["source"]}
MODEL = "chart-reader"
MAX_TOKENS = 90  # tokens of an answer


def chat(client, chart, by_tool=False, blind=False):
    picture = {"type": "image_url", "image_url": {"url": chart.url}}
    question = {"type": "text", "text": chart.question}
    extra = {}
    if by_tool:
        call = {"id": "call_1", "type": "function", "function": {"name": TOOL, "arguments": json.dumps({"source": chart.name})}}
        messages = [
            {"role": "user", "content": chart.question},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": chart.name}, picture]},
        ]
        extra["tools"] = [{"type": "function", "function": {"name": TOOL, "description": "Look at a picture.", "parameters": SCHEMA}}]
    else:
        messages = [{"role": "user", "content": [question] if blind else [question, picture]}]
    reply = client.chat.completions.create(model=MODEL, messages=messages, max_completion_tokens=MAX_TOKENS, temperature=0, **extra)
    return reply.choices[0].message.content


def responses(client, chart, by_tool=False):
    picture = {"type": "input_image", "image_url": chart.url, "detail": "auto"}
    question = {"role": "user", "content": [{"type": "input_text", "text": chart.question}]}
    extra = {}
    if by_tool:
        asked = [
            question,
            {"type": "function_call", "call_id": "call_1", "name": TOOL, "arguments": json.dumps({"source": chart.name})},
            {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": chart.name}, picture]},
        ]
        extra["tools"] = [{"type": "function", "name": TOOL, "description": "Look at a picture.", "parameters": SCHEMA, "strict": False}]
    else:
        question["content"].append(picture)
        asked = [question]
    return client.responses.create(model=MODEL, input=asked, max_output_tokens=MAX_TOKENS, temperature=0, store=False, **extra).output_text


def messages(client, chart, by_tool=False):
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": chart.base64}}
    question = {"type": "text", "text": chart.question}
    extra = {}
    if by_tool:
        asked = [
            {"role": "user", "content": chart.question},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": TOOL, "input": {"source": chart.name}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": chart.name}, picture]}]},
        ]
        extra["tools"] = [{"name": TOOL, "description": "Look at a picture.", "input_schema": SCHEMA}]
    else:
        asked = [{"role": "user", "content": [question, picture]}]
    # The SDK of this version has no parameter for it.
    reply = client.messages.create(model=MODEL, messages=asked, max_tokens=MAX_TOKENS, extra_body={"temperature": 0}, **extra)
    return "".join(block.text for block in reply.content if block.type == "text")

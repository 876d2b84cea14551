"""Clients of the other wires: the SDKs of Google, Amazon, Ollama and Mistral. ROWS CHARTS.

One line of JSON a row: what the model said. Addresses and keys come from the environment, as these
SDKs read it; only Mistral's reads no address, and is given that of OpenAI's.
"""
import base64, json, os, pathlib, sys

import boto3
from botocore.config import Config
from google import genai
from google.genai import types
from mistralai.client import Mistral
from ollama import Client as Ollama

ROWS, CHARTS = map(pathlib.Path, sys.argv[1:])
ASK = "Please take a screenshot of both pages."
MORE = "And which colors are these?"
NAME, DESCRIPTION = "take_screenshot", "Take a screenshot of page n."
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FUNCTION = {"type": "function", "function": {"name": NAME, "description": DESCRIPTION, "parameters": SCHEMA}}


def chart(n):
    return (CHARTS / f"{int(n)}.png").read_bytes()


def data(n):
    return base64.b64encode(chart(n)).decode()


def as_object(n):
    return {"page": n, "screenshot": data(n)}


def gemini(row):
    client, contents = genai.Client(), []
    declared = types.Tool(function_declarations=[
        types.FunctionDeclaration(name=NAME, description=DESCRIPTION, parameters_json_schema=SCHEMA)])
    config = types.GenerateContentConfig(tools=[declared], automatic_function_calling={"disable": True})

    def send(role, parts):
        contents.append(types.Content(role=role, parts=parts))
        request = {"model": row["model"], "contents": contents, "config": config}
        if row["stream"]:
            said = [part for chunk in client.models.generate_content_stream(**request)
                    for part in chunk.candidates[0].content.parts or []]
        else:
            said = client.models.generate_content(**request).candidates[0].content.parts
        contents.append(types.Content(role="model", parts=said))
        return said

    def result(call):
        n = call.args["n"]
        if "JSON" in row["shape"]:
            return types.Part.from_function_response(name=call.name, response=as_object(n))
        blob = types.FunctionResponseBlob(mime_type="image/png", data=chart(n))
        parts = [types.FunctionResponsePart(inline_data=blob)]
        return types.Part.from_function_response(name=call.name, response={"output": "taken"}, parts=parts)

    calls = [part.function_call for part in send("user", [types.Part(text=ASK)]) if part.function_call]
    words = lambda parts: "".join(part.text or "" for part in parts)
    first = words(send("user", [result(call) for call in calls]))
    return [first, words(send("user", [types.Part(text=MORE)]))]


def converse(row):
    client = boto3.client("bedrock-runtime", config=Config(retries={"total_max_attempts": 1}))
    tools = {"tools": [{"toolSpec": {"name": NAME, "description": DESCRIPTION, "inputSchema": {"json": SCHEMA}}}]}
    messages = []

    def send(content):
        messages.append({"role": "user", "content": content})
        request = {"modelId": row["model"], "messages": messages, "toolConfig": tools}
        said = streamed(client.converse_stream(**request)["stream"]) if row["stream"] else \
            client.converse(**request)["output"]["message"]["content"]
        messages.append({"role": "assistant", "content": said})
        return said

    def streamed(events):
        blocks = {}
        for event in events:
            if "contentBlockStart" in event:
                at = event["contentBlockStart"]
                blocks[at["contentBlockIndex"]] = {"toolUse": {**at["start"]["toolUse"], "input": ""}}
            elif "contentBlockDelta" in event:
                at = event["contentBlockDelta"]
                block = blocks.setdefault(at["contentBlockIndex"], {"text": ""})
                if "text" in at["delta"]:
                    block["text"] += at["delta"]["text"]
                else:
                    block["toolUse"]["input"] += at["delta"]["toolUse"]["input"]
        for block in blocks.values():
            if "toolUse" in block:
                block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
        return list(blocks.values())

    def result(call):
        n = call["input"]["n"]
        content = {"json": as_object(n)} if "JSON" in row["shape"] else \
            {"image": {"format": "png", "source": {"bytes": chart(n)}}}
        return {"toolResult": {"toolUseId": call["toolUseId"], "content": [content]}}

    calls = [block["toolUse"] for block in send([{"text": ASK}]) if "toolUse" in block]
    first = send([result(call) for call in calls])[0]["text"]
    return [first, send([{"text": MORE}])[0]["text"]]


def ollama(row):
    client, messages = Ollama(), [{"role": "user", "content": ASK}]

    def send():
        request = {"model": row["model"], "messages": messages, "tools": [FUNCTION], "stream": row["stream"]}
        replies = client.chat(**request)
        said = [reply.message for reply in (replies if row["stream"] else [replies])]
        message = {"role": "assistant", "content": "".join(one.content or "" for one in said),
                   "tool_calls": [call for one in said for call in one.tool_calls or []]}
        messages.append(message)
        return message

    for call in send()["tool_calls"]:
        n = call.function.arguments["n"]
        result = {"content": json.dumps(as_object(n))} if "JSON" in row["shape"] else \
            {"content": "taken", "images": [data(n)]}
        messages.append({"role": "tool", "tool_name": NAME, **result})
    first = send()["content"]
    messages.append({"role": "user", "content": MORE})
    return [first, send()["content"]]


def mistral(row):
    client = Mistral(api_key="any", server_url=os.environ["OPENAI_BASE_URL"].removesuffix("/v1"))
    messages = [{"role": "user", "content": ASK}]

    def send():
        request = {"model": row["model"], "messages": messages, "tools": [FUNCTION]}
        if row["stream"]:
            deltas = [event.data.choices[0].delta for event in client.chat.stream(**request)]
            content, calls = "".join(delta.content or "" for delta in deltas), {}
            for call in (call for delta in deltas for call in delta.tool_calls or []):
                kept = calls.setdefault(call.index, {"id": call.id, "name": call.function.name, "arguments": ""})
                kept["arguments"] += call.function.arguments
            calls = list(calls.values())
        else:
            message = client.chat.complete(**request).choices[0].message
            content, calls = message.content, [{"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
                                               for call in message.tool_calls or []]
        written = [{"id": call["id"], "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]}} for call in calls]
        messages.append({"role": "assistant", "content": content or "", **({"tool_calls": written} if written else {})})
        return content, calls

    for call in send()[1]:
        n = json.loads(call["arguments"])["n"]
        content = json.dumps(as_object(n)) if "JSON" in row["shape"] else \
            [{"type": "image_url", "image_url": f"data:image/png;base64,{data(n)}"}]
        messages.append({"role": "tool", "tool_call_id": call["id"], "name": NAME, "content": content})
    first = send()[0]
    messages.append({"role": "user", "content": MORE})
    return [first, send()[0]]


def status(error):
    """Of a refusal, in the words of each SDK."""
    found = getattr(error, "status_code", None) or getattr(error, "code", None)
    if found is None and hasattr(error, "response"):
        found = error.response["ResponseMetadata"]["HTTPStatusCode"]
    return found


ENTRIES = {"gemini": gemini, "converse": converse, "ollama": ollama, "mistral": mistral}
for row in json.loads(ROWS.read_text()):
    try:
        result = {"said": ENTRIES[row["entry"]](row)}
    except Exception as error:  # what a client makes of a refusal is part of the row
        result = {"status": status(error), "error": str(error) if status(error) else repr(error)}
    print(json.dumps({**row, **result}), flush=True)

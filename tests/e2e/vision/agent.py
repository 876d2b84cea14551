"""Whole loops: the model calls `view` of `photic mcp` itself, and reads what comes back.

PHOTIC GATEWAY CHARTS STORE PATH COUNT: `mcp` looks at a chart; `elided` looks at two, the first gives way, and it
is asked about the first again: it must call for it by the handle in our notice. One line of JSON: loops in
which the model called for the picture and got it, and charts read whole."""
import asyncio, json, sys

import openai
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

import charts, endpoints

photic, gateway, folder, store, path, count = sys.argv[1:]
client = openai.OpenAI(base_url=gateway + "/v1", api_key="any", max_retries=0, timeout=120)


async def answer(server, tools, messages):
    """What the model says in the end, and what it called for and got on the way."""
    called = []
    for _ in range(4):
        reply = client.chat.completions.create(model=endpoints.MODEL, messages=messages, tools=tools, max_completion_tokens=120, temperature=0)
        message = reply.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content, called
        for call in message.tool_calls:
            result = await server.call_tool(call.function.name, json.loads(call.function.arguments))
            # A name that was copied wrongly shows nothing.
            if any(block.type == "image" for block in result.content):
                called.append(call.function.arguments)
            parts = [
                {"type": "text", "text": block.text} if block.type == "text" else
                {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}
                for block in result.content
            ]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": parts})
    return None, called


async def main():
    command = StdioServerParameters(command=photic, args=["mcp", "--root", folder, "--store", store])
    pool = charts.load(folder, "quads")
    told = {"path": path, "loops": 0, "called": 0, "whole": 0, "hit": 0, "of": 0, "wrong": []}
    async with Client(command) as server:
        listed = (await server.list_tools()).tools
        tools = [{"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}} for tool in listed]
        for index in range(int(count)):
            first, second = pool[2 * index], pool[2 * index + 1]
            look = lambda chart: {"role": "user", "content": f"Look at {chart.name}. {chart.question}"}
            messages = [look(first)]
            said, called = await answer(server, tools, messages)
            if path == "elided":
                # What it said before must not tell what it is asked again.
                messages[-1]["content"] = "Go ahead."
                messages.append(look(second))
                await answer(server, tools, messages)
                messages.append({"role": "user", "content": f"Look at the first picture again. {first.question}"})
                said, called = await answer(server, tools, messages)
                # Its own name would lead there, too; what counts is the handle.
                called = [call for call in called if "img_" in call]
            hits = first.hits(said) if called else 0
            told["loops"] += 1
            told["called"] += bool(called)
            told["whole"] += hits == len(first.cells)
            told["hit"] += hits
            told["of"] += len(first.cells) if called else 0
            if hits < len(first.cells) and len(told["wrong"]) < 3:
                told["wrong"].append({"shows": first.shows, "said": said, "called": called})
    print(json.dumps(told))


asyncio.run(main())

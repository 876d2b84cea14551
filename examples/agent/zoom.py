"""An agent that finds a number in a screenshot too large to read at once: it looks, zooms, and answers.

    pip install mcp openai
    photic run -- python examples/agent/zoom.py FOLDER screen.png

The tools are those of `photic mcp`; the loop below knows nothing about pictures. Its tool messages carry them as they
come, which Chat Completions does not take: `photic run` moves them to where the model sees them.
"""
import asyncio, json, os, sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from openai import OpenAI

folder, source = sys.argv[1], sys.argv[2]
model = os.environ.get("MODEL", "gpt-5.4")
task = (
    f'Somewhere in {source} is a frame with a number in it. Begin: call view with {{"source": "{source}"}} and, '
    "if it is too small to read, zoom with `region`, in pixels of the original. Then tell the number."
)


def part(block):
    """A block of an MCP result as a part of a message."""
    if block.type == "image":
        return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}
    return {"type": "text", "text": block.text}


async def main():
    openai = OpenAI(max_retries=0)
    async with Client(StdioServerParameters(command="photic", args=["mcp", "--root", folder, "--for", model])) as eyes:
        tools = [
            {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}}
            for tool in (await eyes.list_tools()).tools
        ]
        messages = [{"role": "user", "content": task}]
        for _ in range(8):
            reply = openai.chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message
            messages.append(reply)
            if not reply.tool_calls:
                print(reply.content)
                return
            for call in reply.tool_calls:
                print(f"{call.function.name} {call.function.arguments}", file=sys.stderr)
                result = await eyes.call_tool(call.function.name, json.loads(call.function.arguments))
                content = [part(block) for block in result.content]
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        sys.exit("no answer after 8 turns")


asyncio.run(main())

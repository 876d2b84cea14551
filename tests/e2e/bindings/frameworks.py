"""Agents of frameworks, and asynchronous clients: without photic, and with the line of docs/python.md. CHARTS WAY.

One line of JSON a row, as the scripts of tests/e2e/clients write them. WAY is `direct` or `photic`. Addresses and keys
come from the environment.
"""
import asyncio, base64, json, logging, os, pathlib, sys, warnings

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner, ToolOutputImage, function_tool
from agents import set_tracing_disabled
from anthropic import AsyncAnthropic
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig as AdkConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types
from openai import AsyncOpenAI, DefaultAsyncHttpx2Client
from pydantic_ai import Agent as PydanticAgent, BinaryContent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel as PydanticResponses
from strands import Agent as StrandsAgent, tool
from strands.middleware import InvokeModelStage
from strands.models import BedrockModel
from strands.models.anthropic import AnthropicModel as StrandsAnthropic
from strands.models.openai import OpenAIModel as StrandsOpenAI

import photic.adk, photic.anthropic, photic.httpx2, photic.openai_agents, photic.pydantic_ai, photic.strands

CHARTS, WITHIN = pathlib.Path(sys.argv[1]), sys.argv[2] == "photic"
ASK = "Please take a screenshot of both pages."
MORE = "And which colors are these?"
NAME, DESCRIPTION = "take_screenshot", "Take a screenshot of page n."
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
GPT, CLAUDE, GEMINI, NOVA = "gpt-5.4", "claude-sonnet-5", "gemini-3-pro-preview", "amazon.nova-pro-v1:0"
JSON, PART = "JSON with base64", "image part"


def png(n):
    return (CHARTS / f"{n}.png").read_bytes()


def as_object(n):
    return {"page": n, "screenshot": base64.b64encode(png(n)).decode()}


def url(n):
    return "data:image/png;base64," + as_object(n)["screenshot"]


def http():
    return DefaultAsyncHttpx2Client(transport=photic.httpx2.AsyncTransport()) if WITHIN else None


async def agents_sdk(model, shape, stream):
    @function_tool
    def take_screenshot(n: int):
        """Take a screenshot of page n."""
        return json.dumps(as_object(n)) if shape == JSON else ToolOutputImage(image_url=url(n))

    client = AsyncOpenAI(max_retries=0)
    kind = OpenAIResponsesModel if model == "openai-responses" else OpenAIChatCompletionsModel
    agent = Agent(name="looks", model=kind(GPT, client), tools=[take_screenshot])
    config = RunConfig(call_model_input_filter=photic.openai_agents.input_filter() if WITHIN else None)
    said, history = [], []
    for question in (ASK, MORE):
        asked = [*history, {"role": "user", "content": question}]
        if stream:
            done = Runner.run_streamed(agent, asked, run_config=config)
            async for _ in done.stream_events():
                pass
        else:
            done = await Runner.run(agent, asked, run_config=config)
        said.append(done.final_output)
        history = done.to_input_list()
    return said


async def adk(model, shape, stream):
    def take_screenshot(n: int) -> dict:
        """Take a screenshot of page n."""
        return as_object(n)

    callback = photic.adk.before_model() if WITHIN else None
    agent = LlmAgent(name="looks", model=GEMINI, tools=[take_screenshot], before_model_callback=callback)
    runner = InMemoryRunner(agent=agent, app_name="looks")
    session = await runner.session_service.create_session(app_name="looks", user_id="u")
    config = AdkConfig(streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE)
    said = []
    for question in (ASK, MORE):
        words = ""
        message = types.Content(role="user", parts=[types.Part(text=question)])
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message, run_config=config):
            if event.is_final_response() and event.content:
                words = "".join(part.text or "" for part in event.content.parts)
            if event.error_code:
                raise RuntimeError(f"{event.error_code}: {event.error_message}")
        said.append(words)
    return said


async def strands(model, shape, stream):
    @tool
    def take_screenshot(n: int) -> dict:
        """Take a screenshot of page n."""
        content = {"json": as_object(n)} if shape == JSON else {"image": {"format": "png", "source": {"bytes": png(n)}}}
        return {"status": "success", "content": [content]}

    made = {
        "bedrock-converse": lambda: BedrockModel(model_id=NOVA, streaming=stream),
        "openai-chat": lambda: StrandsOpenAI(AsyncOpenAI(max_retries=0, http_client=http()), model_id=GPT),
        "anthropic": lambda: StrandsAnthropic(model_id=CLAUDE, max_tokens=500, client_args={"max_retries": 0}),
    }[model]()
    agent = StrandsAgent(model=made, tools=[take_screenshot], callback_handler=None)
    if WITHIN and model != "openai-chat":
        agent.add_middleware(InvokeModelStage.Input, photic.strands.middleware())
    return [str(await agent.invoke_async(question)).strip() for question in (ASK, MORE)]


async def pydantic(model, shape, stream):
    made = {"openai-chat": lambda: OpenAIChatModel(GPT), "openai-responses": lambda: PydanticResponses(GPT),
            "anthropic": lambda: AnthropicModel(CLAUDE)}[model]()
    agent = PydanticAgent(made, capabilities=[photic.pydantic_ai.Photic()] if WITHIN else [])

    @agent.tool_plain
    def take_screenshot(n: int):
        """Take a screenshot of page n."""
        return as_object(n) if shape == JSON else BinaryContent(png(n), media_type="image/png")

    said, history = [], None
    for question in (ASK, MORE):
        if stream:
            async with agent.run_stream(question, message_history=history) as result:
                said.append(await result.get_output())
                history = result.all_messages()
        else:
            result = await agent.run(question, message_history=history)
            said.append(result.output)
            history = result.all_messages()
    return said


async def openai_async(model, shape, stream):
    client, messages = AsyncOpenAI(max_retries=0, http_client=http()), [{"role": "user", "content": ASK}]
    function = {"name": NAME, "description": DESCRIPTION, "parameters": {**SCHEMA, "additionalProperties": False}, "strict": True}
    request = {"model": GPT, "messages": messages, "tools": [{"type": "function", "function": function}]}

    async def send():
        if stream:
            async with client.chat.completions.stream(**request) as events:
                message = (await events.get_final_completion()).choices[0].message
        else:
            message = (await client.chat.completions.create(**request)).choices[0].message
        messages.append(message)
        return message

    for call in (await send()).tool_calls:
        n = json.loads(call.function.arguments)["n"]
        content = json.dumps(as_object(n)) if shape == JSON else [{"type": "image_url", "image_url": {"url": url(n)}}]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    first = (await send()).content
    messages.append({"role": "user", "content": MORE})
    return [first, (await send()).content]


async def anthropic_async(model, shape, stream):
    client = AsyncAnthropic(max_retries=0, middleware=[photic.anthropic.middleware()] if WITHIN else [])
    messages = [{"role": "user", "content": ASK}]
    tools = [{"name": NAME, "description": DESCRIPTION, "input_schema": SCHEMA}]

    async def send():
        request = {"model": CLAUDE, "max_tokens": 500, "messages": messages, "tools": tools}
        if stream:
            async with client.messages.stream(**request) as events:
                content = (await events.get_final_message()).content
        else:
            content = (await client.messages.create(**request)).content
        messages.append({"role": "assistant", "content": content})
        return content

    def give(n):
        if shape == JSON:
            return json.dumps(as_object(n))
        return [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": as_object(n)["screenshot"]}}]

    calls = [block for block in await send() if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": give(call.input["n"])} for call in calls]
    messages.append({"role": "user", "content": results})
    first = (await send())[0].text
    messages.append({"role": "user", "content": MORE})
    return [first, (await send())[0].text]


TABLE = [
    ("OpenAI SDK, Python, asynchronous", openai_async, ["openai-chat"], [PART, JSON]),
    ("Anthropic SDK, Python, asynchronous", anthropic_async, ["anthropic"], [PART, JSON]),
    ("OpenAI Agents SDK, input filter", agents_sdk, ["openai-chat", "openai-responses"], [PART, JSON]),
    ("pydantic-ai, capability", pydantic, ["openai-chat", "openai-responses", "anthropic"], ["`BinaryContent`", JSON]),
    ("Google ADK, callback", adk, ["gemini"], [JSON]),
    ("Strands, middleware", strands, ["bedrock-converse", "anthropic"], [PART, JSON]),
    ("Strands, OpenAI's client", strands, ["openai-chat"], [JSON]),
]


def cause(error):
    """The status and words of the provider, however deep a framework buried them."""
    while error is not None:
        response = getattr(error, "response", None)
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        if isinstance(response, dict):
            status = response["ResponseMetadata"]["HTTPStatusCode"]
        if isinstance(status, int):
            return {"status": status, "error": str(error)}
        last, error = error, error.__cause__ or error.__context__
    return {"status": None, "error": repr(last)}


logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
set_tracing_disabled(True)
for client, ask, wires, shapes in TABLE:
    for wire in wires:
        for shape in shapes:
            for stream in (False, True):
                row = {"client": client, "wire": wire, "shape": shape, "stream": stream}
                try:
                    result = {"said": asyncio.run(ask(wire, shape, stream))}
                except Exception as error:  # what a client makes of a refusal is part of the row
                    result = cause(error)
                print(json.dumps({**row, **result}), flush=True)

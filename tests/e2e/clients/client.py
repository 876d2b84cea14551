"""Python clients: the OpenAI and Anthropic SDKs, LangChain and pydantic-ai. ROWS CHARTS.

One line of JSON a row: what the model said. Addresses and keys come from the environment.
"""
import base64, json, logging, os, pathlib, sys

from anthropic import Anthropic, AnthropicBedrock, AnthropicFoundry, AnthropicVertex, beta_tool
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from openai import AzureOpenAI, OpenAI
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

ROWS, CHARTS = map(pathlib.Path, sys.argv[1:])
ASK = "Please take a screenshot of both pages."
MORE = "And which colors are these?"
NAME, DESCRIPTION = "take_screenshot", "Take a screenshot of page n."
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def data(n):
    return base64.b64encode((CHARTS / f"{n}.png").read_bytes()).decode()


def url(n):
    return f"data:image/png;base64,{data(n)}"


def as_object(n):
    return {"page": n, "screenshot": data(n)}


def as_sent(item):
    """Without what the streaming helper parsed."""
    item.pop("parsed_arguments", None)
    for part in item.get("content", []):
        part.pop("parsed", None)
    return item


def below(path):
    """The client of a host that takes the bodies of Chat Completions below another path."""
    return OpenAI(max_retries=0, base_url=os.environ["OPENAI_BASE_URL"].removesuffix("/v1") + path)


# Clients of hosts, each with its own path. They read their base URLs from the environment.
HOSTS = {
    "azure": lambda: AzureOpenAI(max_retries=0),
    "azure-v1": lambda: below("/openai/v1"),
    "openrouter": lambda: below("/api/v1"),
    "dashscope": lambda: below("/compatible-mode/v1"),
    "bedrock": lambda: AnthropicBedrock(max_retries=0),
    "vertex": lambda: AnthropicVertex(max_retries=0, region="us-east5", project_id="project", access_token="any"),
    "foundry": lambda: AnthropicFoundry(max_retries=0),
}


def client_of(row, default):
    host = row["entry"].partition("@")[2]
    return HOSTS[host]() if host else default(max_retries=0)


def openai_chat(row):
    client, messages = client_of(row, OpenAI), [{"role": "user", "content": ASK}]
    function = {"name": NAME, "description": DESCRIPTION, "parameters": SCHEMA, "strict": True}
    request = {"model": row["model"], "messages": messages, "tools": [{"type": "function", "function": function}]}

    def send():
        if row["stream"]:
            with client.chat.completions.stream(**request) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(**request).choices[0].message
        messages.append(message)
        return message

    for call in send().tool_calls:
        n = json.loads(call.function.arguments)["n"]
        content = json.dumps(as_object(n)) if "JSON" in row["shape"] else [{"type": "image_url", "image_url": {"url": url(n)}}]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    first = send().content
    messages.append({"role": "user", "content": MORE})
    return [first, send().content]


def openai_responses(row):
    client, kept = client_of(row, OpenAI), "previous" in row["shape"]
    tools = [{"type": "function", "name": NAME, "description": DESCRIPTION, "parameters": SCHEMA, "strict": True}]
    history, previous = [], {}

    def send(more):
        history.extend(more)
        request = {"model": row["model"], "input": more if kept else history, "tools": tools, **(previous if kept else {})}
        if row["stream"]:
            with client.responses.stream(**request) as stream:
                done = stream.get_final_response()
        else:
            done = client.responses.create(**request)
        previous["previous_response_id"] = done.id
        history.extend(as_sent(item.to_dict()) for item in done.output)
        return done

    results = []
    for call in send([{"role": "user", "content": ASK}]).output:
        n = json.loads(call.arguments)["n"]
        output = json.dumps(as_object(n)) if "JSON" in row["shape"] else [{"type": "input_image", "image_url": url(n), "detail": "auto"}]
        results.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    first = send(results).output_text
    return [first, send([{"role": "user", "content": MORE}]).output_text]


def anthropic(row):
    client, messages = client_of(row, Anthropic), [{"role": "user", "content": ASK}]
    request = {"model": row["model"], "max_tokens": 500, "messages": messages}

    def give(n):
        if "JSON" in row["shape"]:
            return json.dumps(as_object(n))
        return [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data(n)}}]

    if "runner" in row["shape"]:
        @beta_tool
        def take_screenshot(n: int):
            """Take a screenshot of page n."""
            return give(n)

        if row["stream"]:
            for stream in client.beta.messages.tool_runner(**request, tools=[take_screenshot], stream=True):
                last = stream.get_final_message()
        else:
            last = client.beta.messages.tool_runner(**request, tools=[take_screenshot]).until_done()
        return [last.content[0].text]

    tools = [{"name": NAME, "description": DESCRIPTION, "input_schema": SCHEMA}]

    def send():
        if row["stream"]:
            with client.messages.stream(**request, tools=tools) as stream:
                content = stream.get_final_message().content
        else:
            content = client.messages.create(**request, tools=tools).content
        messages.append({"role": "assistant", "content": content})
        return content

    calls = [block for block in send() if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": give(call.input["n"])} for call in calls]
    messages.append({"role": "user", "content": results})
    first = send()[0].text
    messages.append({"role": "user", "content": MORE})
    return [first, send()[0].text]


def langchain(row):
    as_text = "JSON" in row["shape"]

    def take_screenshot(n: int):
        """Take a screenshot of page n."""
        if as_text:
            return json.dumps(as_object(n))
        return [{"type": "image", "base64": data(n), "mime_type": "image/png"}]

    settings = {"model": row["model"], "max_retries": 0, "streaming": row["stream"]}
    if row["wire"] == "anthropic":
        model = ChatAnthropic(**settings, max_tokens=500)
    else:
        model = ChatOpenAI(**settings, use_responses_api=row["wire"] == "openai-responses")
    agent = create_agent(model, [take_screenshot])
    said, messages = [], []
    for question in (ASK, MORE):
        asked = {"messages": [*messages, {"role": "user", "content": question}]}
        if row["stream"]:
            for kind, state in agent.stream(asked, stream_mode=["messages", "values"]):
                if kind == "values":
                    messages = state["messages"]
        else:
            messages = agent.invoke(asked)["messages"]
        said.append(messages[-1].text)
    return said


def pydantic(row):
    model = {
        "openai-chat": lambda: OpenAIChatModel(row["model"], provider=OpenAIProvider()),
        "openai-responses": lambda: OpenAIResponsesModel(row["model"], provider=OpenAIProvider()),
        "anthropic": lambda: AnthropicModel(row["model"], provider=AnthropicProvider()),
    }[row["wire"]]()
    agent = Agent(model)

    @agent.tool_plain
    def take_screenshot(n: int):
        """Take a screenshot of page n."""
        if "dict" in row["shape"]:
            return as_object(n)
        return BinaryContent((CHARTS / f"{n}.png").read_bytes(), media_type="image/png")

    said, history = [], None
    for question in (ASK, MORE):
        if row["stream"]:
            result = agent.run_stream_sync(question, message_history=history)
            said.append(result.get_output())
        else:
            result = agent.run_sync(question, message_history=history)
            said.append(result.output)
        history = result.all_messages()
    return said


ENTRIES = {"openai-chat": openai_chat, "openai-responses": openai_responses, "anthropic": anthropic}


def entry(name):
    return ENTRIES.get(name.partition("@")[0]) or (langchain if name.startswith("langchain") else pydantic)


def cause(error):
    """The status and words of the provider, however deep a framework buried them."""
    while error is not None:
        status = getattr(error, "status_code", None)
        if status:
            return {"status": status, "error": str(error)}
        last, error = error, error.__cause__ or error.__context__
    return {"status": None, "error": repr(last)}


logging.disable(logging.WARNING)
for row in json.loads(ROWS.read_text()):
    try:
        result = {"said": entry(row["entry"])(row)}
    except Exception as error:  # what a client makes of a refusal is part of the row
        result = cause(error)
    print(json.dumps({**row, **result}), flush=True)

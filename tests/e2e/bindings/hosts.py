"""The limits are those of the host that a client talks to, also where the client only has its address. No network."""
import asyncio

import httpx2
from anthropic import Anthropic, AnthropicBedrock, AnthropicVertex, AsyncAnthropic
from openai import OpenAI

import photic, photic.anthropic, photic.httpx2

MESSAGES = [{"role": "user", "content": "Hello"}]
REPLY = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None,
         "content": [{"type": "text", "text": "Hello"}], "usage": {"input_tokens": 1, "output_tokens": 1}}
AWS = {"aws_access_key": "any", "aws_secret_key": "any", "aws_region": "eu-west-1"}
VERTEX = {"access_token": "any", "project_id": "any", "region": "europe-west1"}
CLAUDE = "claude-sonnet-5"
CLIENTS = [
    (Anthropic, {"api_key": "any"}, "api.anthropic.com", CLAUDE),
    (AsyncAnthropic, {"api_key": "any"}, "api.anthropic.com", CLAUDE),
    (Anthropic, {"api_key": "any", "base_url": "http://localhost:8080"}, "localhost:8080", CLAUDE),
    (AsyncAnthropic, {"api_key": "any", "base_url": "http://localhost:8080"}, "localhost:8080", CLAUDE),
    (AnthropicBedrock, AWS, "bedrock-runtime.eu-west-1.amazonaws.com", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    (AnthropicVertex, VERTEX, "europe-west1-aiplatform.googleapis.com", CLAUDE),
]


def passes(request, call_next):
    """Another middleware, which photic has to look behind."""
    return call_next(request)


async def passes_later(request, call_next):
    return await call_next(request)


def profile(make, options, model):
    repaired = []
    ours = photic.anthropic.middleware(on_repair=repaired.append)
    if make is AsyncAnthropic:
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer_later))
        client = make(http_client=http, middleware=[passes_later, ours, passes_later], **options)
        asyncio.run(client.messages.create(model=model, max_tokens=10, messages=MESSAGES))
    else:
        http = httpx2.Client(transport=httpx2.MockTransport(answer))
        client = make(http_client=http, middleware=[passes, ours, passes], **options)
        client.messages.create(model=model, max_tokens=10, messages=MESSAGES)
        client.with_options(max_retries=1).messages.create(model=model, max_tokens=10, messages=MESSAGES)
        assert repaired[0].profile == repaired[1].profile
    return repaired[0].profile


def answer(request):
    return httpx2.Response(200, json=REPLY)


async def answer_later(request):
    return answer(request)


found = {}
for make, options, host, model in CLIENTS:
    right = photic.Profile.of("anthropic", model, host).id
    made = profile(make, options, model)
    assert made == right, f"{make.__name__} at {host}: {made}, not {right}"
    found[host] = made
assert len(set(found.values())) == len(found), found

# OpenAI's SDK, at a server that is known by its port.
repaired, chat = [], {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
below = httpx2.MockTransport(lambda request: httpx2.Response(200, json=chat))
for url, host in (("http://localhost:8080/v1", "localhost:8080"), ("https://api.groq.com/openai/v1", "api.groq.com")):
    http = httpx2.Client(transport=photic.httpx2.Transport(below, on_repair=repaired.append))
    OpenAI(api_key="any", base_url=url, http_client=http).chat.completions.create(model="qwen3-vl", messages=MESSAGES)
    right = photic.Profile.of("openai-chat", "qwen3-vl", host).id
    assert repaired.pop().profile == right != photic.Profile.of("openai-chat", "qwen3-vl").id, (host, right)
print(f"python: limits are those of the host: {found}")

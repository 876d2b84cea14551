"""The rows of docs/clients.md: which client, on which wire, and how its tool gives an image.

    rows.py RUNNER MODE    the rows of one runner as JSON, for its client

A row is run streamed and not, twice: once as its client stands ("direct"), once behind `photic
run`. Where `to` names a wire, the upstream speaks only that one.
"""
import json, sys

CHAT, RESPONSES, MESSAGES = "openai-chat", "openai-responses", "anthropic"
GEMINI, CONVERSE, OLLAMA = "gemini", "bedrock-converse", "ollama"
# By model the gateway knows where a row goes; each is served by an upstream of one wire.
MODELS = {CHAT: "gpt-5.4", RESPONSES: "gpt-5.4", MESSAGES: "claude-sonnet-5", GEMINI: "gemini-3-pro-preview",
          CONVERSE: "anthropic.claude-sonnet-4-5-20250929-v1:0", OLLAMA: "qwen3-vl:8b"}
ACROSS = {**MODELS, RESPONSES: "gpt-5.6", CONVERSE: "amazon.nova-pro-v1:0"}

PARTS, JSON = "image part", "JSON with base64"

# (runner, client as a reader knows it, entry in its script, wire, shapes)
TABLE = []
for runner, language in (("python", "Python"), ("node", "Node")):
    chat = [PARTS, JSON] + (["`runTools`, object"] if runner == "node" else [])
    TABLE += [
        (runner, f"OpenAI SDK, {language}", "openai-chat", CHAT, chat),
        (runner, f"OpenAI SDK, {language}", "openai-responses", RESPONSES,
         [PARTS, JSON, "`previous_response_id`, JSON with base64"]),
        (runner, f"Anthropic SDK, {language}", "anthropic", MESSAGES,
         [PARTS, JSON, "tool runner, image part", "tool runner, JSON with base64"]),
    ]
for major in "67":
    shapes = ["`toModelOutput`, content", "object"]
    TABLE += [
        (f"ai{major}", f"AI SDK {major}, openai-compatible", "openai-compatible", CHAT, shapes),
        (f"ai{major}", f"AI SDK {major}, openai chat", "openai-chat", CHAT, shapes),
        (f"ai{major}", f"AI SDK {major}, openai responses", "openai-responses", RESPONSES, shapes),
        (f"ai{major}", f"AI SDK {major}, anthropic", "anthropic", MESSAGES, shapes),
    ]
for client, entry, shapes in (
    ("LangChain", "langchain", ["image block", JSON]),
    ("pydantic-ai", "pydantic", ["`BinaryContent`", "dict with base64"]),
):
    for name, wire in (("openai chat", CHAT), ("openai responses", RESPONSES), ("anthropic", MESSAGES)):
        TABLE.append(("python", f"{client}, {name}", f"{entry}-{wire}", wire, shapes))

# Clients of hosts: the path differs, and for Claude the body, too.
for client, host, entry, wire in (
    ("`AzureOpenAI`", "azure", "openai-chat", CHAT), ("`AzureOpenAI`", "azure", "openai-responses", RESPONSES),
    ("OpenAI SDK, Azure's `/openai/v1`", "azure-v1", "openai-responses", RESPONSES),
    ("OpenAI SDK, OpenRouter's `/api/v1`", "openrouter", "openai-chat", CHAT),
    ("OpenAI SDK, DashScope's `/compatible-mode/v1`", "dashscope", "openai-chat", CHAT),
    ("`AnthropicBedrock`", "bedrock", "anthropic", MESSAGES), ("`AnthropicVertex`", "vertex", "anthropic", MESSAGES),
    ("`AnthropicFoundry`", "foundry", "anthropic", MESSAGES),
):
    TABLE.append(("python", client, f"{entry}@{host}", wire, [PARTS, JSON]))

TABLE.append(("claude", "Claude Code", "claude", MESSAGES, ["`Read` of a PNG file"]))
for client, entry, wire in (
    ("Google Gen AI SDK", "gemini", GEMINI), ("Google Gen AI SDK, Gemini 2.5", "gemini", GEMINI),
    ("boto3", "converse", CONVERSE), ("boto3, Nova", "converse", CONVERSE),
    ("Ollama SDK", "ollama", OLLAMA), ("Mistral SDK", "mistral", CHAT),
):
    TABLE.append(("others", client, entry, wire, [PARTS, JSON]))

BY_CLIENT = {
    # Its newer models get system messages inside the conversation, which the provider does not know.
    "Claude Code": {MESSAGES: "claude-sonnet-4-6"},
    # Other models, other places for pictures.
    "Google Gen AI SDK, Gemini 2.5": {GEMINI: "gemini-2.5-pro"},
    "boto3, Nova": {CONVERSE: "amazon.nova-pro-v1:0"},
    "Mistral SDK": {CHAT: "mistral-medium-3"},
    "`AnthropicBedrock`": {MESSAGES: "anthropic.claude-sonnet-4-5-20250929-v1:0"},
    "`AnthropicVertex`": {MESSAGES: "claude-sonnet-4-5@20250929"},
}
# It always streams.
WAYS = {"Claude Code": (True,)}

# Clients of one wire, and the wires that they are led to.
CROSS = {CHAT: [MESSAGES, RESPONSES], RESPONSES: [], MESSAGES: [CHAT, RESPONSES], GEMINI: [], CONVERSE: [], OLLAMA: []}
# One client a wire is led to every other.
EVERYWHERE = {"OpenAI SDK, Python", "Anthropic SDK, Python", "Google Gen AI SDK", "Ollama SDK"}


def leads(client, entry, wire):
    if "@" in entry:
        return []
    if client == "boto3":
        # A signature is no key: only who asks for none can be asked with it.
        return [OLLAMA]
    if client in EVERYWHERE:
        return [to for to in MODELS if to != wire]
    return CROSS[wire] if client not in BY_CLIENT or client == "Claude Code" else []


def rows(mode):
    for runner, client, entry, wire, shapes in TABLE:
        for to in [None] if mode == "same" else leads(client, entry, wire):
            for shape in shapes:
                # What the service keeps cannot be led elsewhere.
                if to and ("runner" in shape or "previous" in shape):
                    continue
                for stream in WAYS.get(client, (False, True)):
                    model = ACROSS[to] if to else BY_CLIENT.get(client, MODELS)[wire]
                    yield {"runner": runner, "client": client, "entry": entry, "wire": wire, "to": to,
                           "shape": shape, "stream": stream, "model": model}


if __name__ == "__main__":
    runner, mode = sys.argv[1:]
    print(json.dumps([row for row in rows(mode) if row["runner"] == runner]))

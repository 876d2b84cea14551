"""OpenAI SDK for Python: chat by hand (it has no chat runner), responses with the tool runner."""
import json

from openai import OpenAI
from openai.lib.responses_tool_runner import RegisteredFunction, ResponsesToolRunner

from flow import DESCRIPTION, NAME, PROMPT, SCHEMA, as_mcp, data_url, run

MODEL = "gpt-4.1"
ANSWER = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"], "additionalProperties": False}
CHAT_SETTINGS = {
    "temperature": 0.2, "top_p": 0.9, "stop": ["END", "\n\n"], "max_completion_tokens": 512, "seed": 7, "n": 1,
    "frequency_penalty": 0.1, "presence_penalty": 0.2, "logit_bias": {"50256": -100}, "user": "user-7",
    "metadata": {"run": "7"}, "store": False, "service_tier": "auto", "tool_choice": "auto", "parallel_tool_calls": True,
    "logprobs": True, "top_logprobs": 2, "prompt_cache_key": "run-7", "safety_identifier": "user-7",
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": ANSWER, "strict": True}},
}
RESPONSES_SETTINGS = {
    "instructions": "Answer in one sentence.", "temperature": 0.2, "top_p": 0.9, "max_output_tokens": 512, "user": "user-7",
    "metadata": {"run": "7"}, "store": False, "service_tier": "auto", "tool_choice": "auto", "parallel_tool_calls": True,
    "top_logprobs": 2, "truncation": "disabled", "prompt_cache_key": "run-7", "include": ["reasoning.encrypted_content"],
    "text": {"format": {"type": "json_schema", "name": "answer", "schema": ANSWER, "strict": True}, "verbosity": "low"},
}


def connect(capture):
    return OpenAI(base_url=capture["url"] + "/v1", api_key="none", max_retries=0)


def as_text(shape, parts, error):
    """Shapes a tool author gives a result that has to be text. json.dumps is used
    as it comes: unlike JSON.stringify it spaces its separators and escapes all but ASCII."""
    if shape == "mcp-text":
        return json.dumps(as_mcp(parts, error))
    if shape == "data-url-text":
        return data_url(parts[0])
    if shape == "screenshot-text":
        return json.dumps({"width": 64, "height": 48, "screenshot": parts[0]["data"]})
    return None


def chat(capture):
    client = connect(capture)

    def look(n):
        parts = capture["results"][n - 1]
        return as_text(capture["as"], parts, capture["error"]) or [
            {"type": "text", "text": p["text"]} if "text" in p
            else {"type": "image_url", "image_url": {"url": data_url(p)}}
            for p in parts
        ]

    messages = [{"role": "user", "content": PROMPT}]
    function = {"name": NAME, "description": DESCRIPTION, "parameters": SCHEMA, "strict": True}
    request = {"model": MODEL, "messages": messages, "tools": [{"type": "function", "function": function}]}
    if capture["how"] == "settings":
        request |= CHAT_SETTINGS

    def send():
        if capture["how"] != "stream":
            return client.chat.completions.create(**request)
        with client.chat.completions.stream(**request) as stream:
            return stream.get_final_completion()

    message = send().choices[0].message
    messages.append(message)
    for call in message.tool_calls:
        content = look(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    send()


def responses(capture):
    client = connect(capture)
    tool = {"type": "function", "name": NAME, "description": DESCRIPTION, "parameters": SCHEMA, "strict": True}

    def look(args):
        parts = capture["results"][args["n"] - 1]
        return as_text(capture["as"], parts, capture["error"]) or [
            {"type": "input_text", "text": p["text"]} if "text" in p
            else {"type": "input_image", "image_url": data_url(p), "detail": "auto"}
            for p in parts
        ]

    if capture["how"] != "previous-id":
        runner = ResponsesToolRunner(functions=[RegisteredFunction(tool, look)])
        settings = RESPONSES_SETTINGS if capture["how"] == "settings" else {}
        runner.run(client, {"model": MODEL, "input": PROMPT, **settings}, stream=capture["how"] == "stream")
        return
    # The other common loop: the server keeps the history, only results are sent.
    first = client.responses.create(model=MODEL, input=PROMPT, tools=[tool])
    outputs = [
        {"type": "function_call_output", "call_id": call.call_id, "output": look(json.loads(call.arguments))}
        for call in first.output
    ]
    client.responses.create(model=MODEL, previous_response_id=first.id, input=outputs, tools=[tool])


run({"chat": chat, "responses": responses})

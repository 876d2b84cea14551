"""The OpenAI and Anthropic SDKs for Python against `photic mock`: URL, then a folder of charts."""
import base64, json, pathlib, sys

import anthropic, openai

url, charts = sys.argv[1], pathlib.Path(sys.argv[2])
DATA = {n: base64.b64encode((charts / f"{n}.png").read_bytes()).decode() for n in (1, 2)}
WORDS = {n: (charts / f"{n}.txt").read_text().strip() for n in (1, 2)}
RIGHT = f"image 1: {WORDS[1]}; image 2: {WORDS[2]}"
BLIND = "I see no image."
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
TOOL = {"name": "look", "description": "Look through camera n."}
ASK, LOOK = "What is in the pictures?", "Please look through both cameras."
GPT, CLAUDE = "gpt-5.4", "claude-sonnet-5"

oa = openai.OpenAI(base_url=url + "/v1", api_key="any", max_retries=0)
an = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)
passed = 0


def check(name, said, right):
    global passed
    if said != right:
        sys.exit(f"{name}: {said!r} instead of {right!r}")
    passed += 1


def stringified(n):
    return json.dumps([{"type": "image", "data": DATA[n], "mimeType": "image/png"}])


# Each wire: how an image is written, how a request is sent, how a turn with calls goes on.

class Chat:
    native = False

    def image(self, n):
        return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA[n]}"}}

    def text(self, text):
        return {"type": "text", "text": text}

    def send(self, messages, stream):
        tools = [{"type": "function", "function": {**TOOL, "parameters": SCHEMA, "strict": True}}]
        request = {"model": GPT, "messages": messages, "tools": tools}
        if not stream:
            return oa.chat.completions.create(**request).choices[0].message
        with oa.chat.completions.stream(**request, stream_options={"include_usage": True}) as events:
            done = events.get_final_completion()
        assert done.usage.prompt_tokens > 0
        return done.choices[0].message

    def said(self, message):
        return message.content

    def after(self, message, result):
        results = [{"role": "tool", "tool_call_id": call.id, "content": result(json.loads(call.function.arguments)["n"])}
                   for call in message.tool_calls]
        return [message, *results]


class Responses:
    native = True

    def image(self, n):
        return {"type": "input_image", "image_url": f"data:image/png;base64,{DATA[n]}", "detail": "auto"}

    def text(self, text):
        return {"type": "input_text", "text": text}

    def send(self, items, stream):
        request = {"model": GPT, "input": items, "tools": [{"type": "function", **TOOL, "parameters": SCHEMA, "strict": True}]}
        if not stream:
            return oa.responses.create(**request)
        with oa.responses.stream(**request) as events:
            return events.get_final_response()

    def said(self, response):
        return response.output_text

    def after(self, response, result):
        results = [{"type": "function_call_output", "call_id": call.call_id, "output": result(json.loads(call.arguments)["n"])}
                   for call in response.output]
        return [*response.output, *results]


class Messages:
    native = True

    def image(self, n):
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA[n]}}

    def text(self, text):
        return {"type": "text", "text": text}

    def send(self, messages, stream):
        request = {"model": CLAUDE, "max_tokens": 500, "messages": messages, "tools": [{**TOOL, "input_schema": SCHEMA}]}
        if not stream:
            return an.messages.create(**request)
        with an.messages.stream(**request) as events:
            return events.get_final_message()

    def said(self, message):
        return message.content[0].text

    def after(self, message, result):
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": result(call.input["n"])} for call in message.content]
        return [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]


for wire in (Chat(), Responses(), Messages()):
    for stream in (False, True):
        name = f"{type(wire).__name__}, {'streamed' if stream else 'whole'}"
        shown = [{"role": "user", "content": [wire.image(1), wire.image(2), wire.text(ASK)]}]
        check(f"{name}: image of the user", wire.said(wire.send(shown, stream)), RIGHT)

        asked = [{"role": "user", "content": LOOK}]
        calls = wire.send(asked, stream)
        blind = asked + wire.after(calls, stringified)
        check(f"{name}: tool image as text", wire.said(wire.send(blind, stream)), BLIND)
        native = asked + wire.after(calls, lambda n: [wire.image(n)])
        if wire.native:
            check(f"{name}: tool image", wire.said(wire.send(native, stream)), RIGHT)
            continue
        try:
            wire.send(native, stream)
            sys.exit(f"{name}: a tool image was taken")
        except openai.BadRequestError as error:
            says = "Image URLs are only allowed for messages with role 'user'"
            check(f"{name}: tool image", says in error.message, True)

counted = an.messages.count_tokens(model=CLAUDE, messages=[{"role": "user", "content": ASK}])
check("count_tokens", counted.input_tokens, 6)
check("models", [model.id for model in oa.models.list()], [model.id for model in an.models.list()])
print(f"python: {passed} passed, 0 failed")

"""LiteLLM with and without the hook, against `photic mock`: URL FOLDER. One model, a tool result with JSON in it."""
import asyncio, base64, json, os, pathlib, sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm

import photic.litellm

url, charts = sys.argv[1], pathlib.Path(sys.argv[2])
words = (charts / "1.txt").read_text().strip()
picture = base64.b64encode((charts / "1.png").read_bytes()).decode()
schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
tool = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": schema}}
messages = [
    {"role": "user", "content": "What do you see?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}]},
    {"role": "tool", "tool_call_id": "call_1", "content": json.dumps({"screenshot": picture})},
]


def ask(model, base):
    sent = litellm.acompletion(model=model, api_base=base, api_key="any", messages=messages, tools=[tool], max_tokens=200)
    return asyncio.run(sent).choices[0].message.content


for model, base in (("openai/gpt-5.4", url + "/v1"), ("anthropic/claude-sonnet-5", url)):
    litellm.callbacks = []
    without = ask(model, base)
    litellm.callbacks = [photic.litellm.PhoticHook()]
    within = ask(model, base)
    assert without == "I see no image.", (model, without)
    assert words in within, (model, within)
print("LiteLLM: blind without the hook, sees with it, on Chat Completions and led to Messages")

"""LiteLLM's proxy with the configuration of docs/python.md: blind without its `callbacks`, sees with them. CHARTS FOLDER.

Runs on the Python of LiteLLM, which has the program beside it. The provider is that of the environment.
"""
import base64, json, os, pathlib, re, subprocess, sys, urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from free_port import free_port
from waiting import until

charts, folder = map(pathlib.Path, sys.argv[1:])
page = (ROOT / "docs/python.md").read_text()
(configuration,) = re.findall(r"(?ms)^```yaml\n(.*?)^```", page)
without = re.sub(r"(?m)^litellm_settings:\n(  .*\n)+", "", configuration)
assert without != configuration
KEY = "sk-" + os.urandom(32).hex()  # without one the proxy does not start
words = (charts / "1.txt").read_text().strip()
picture = base64.b64encode((charts / "1.png").read_bytes()).decode()
schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
result = json.dumps({"screenshot": picture})
CHAT = {
    "model": "gpt-5.4",
    "tools": [{"type": "function", "function": {"name": "look", "description": "Look.", "parameters": schema}}],
    "messages": [
        {"role": "user", "content": "What do you see?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": result}],
}
MESSAGES = {
    "model": "claude-sonnet-5", "max_tokens": 300,
    "tools": [{"name": "look", "description": "Look.", "input_schema": schema}],
    "messages": [
        {"role": "user", "content": "What do you see?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"n": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": result}]}],
}


def post(url, body):
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}", "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as reply:
        return reply.read().decode()


def ask(text):
    port = free_port()
    file = folder / "litellm.yaml"
    file.write_text(text)
    program = pathlib.Path(sys.executable).with_name("litellm")
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}
    with open(folder / "litellm.log", "w") as log:
        proxy = subprocess.Popen([program, "--config", file, "--host", "127.0.0.1", "--port", str(port)],
                                 env=environment, stdout=log, stderr=log)
    try:
        base = f"http://127.0.0.1:{port}"

        def is_ready():
            assert proxy.poll() is None, (folder / "litellm.log").read_text()[-3000:]
            return urllib.request.urlopen(f"{base}/health/liveliness", timeout=5).status == 200

        until(is_ready, "LiteLLM's proxy")
        return [post(f"{base}/v1/chat/completions", CHAT), post(f"{base}/v1/chat/completions", {**CHAT, "stream": True}),
                post(f"{base}/v1/messages", MESSAGES)]
    finally:
        proxy.terminate()
        proxy.wait()


def said(reply):
    """The words of a reply, streamed or not."""
    if not reply.startswith("data:"):
        return reply
    events = [json.loads(line[6:]) for line in reply.splitlines() if line.startswith("data: {")]
    return "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])


blind, seeing = ([said(reply) for reply in ask(text)] for text in (without, configuration))
assert all("I see no image." in reply for reply in blind), blind
assert all(words in reply for reply in seeing), seeing
print("LiteLLM's proxy: blind as it is, sees with `callbacks` in its configuration: Chat Completions, streamed and not, and Messages")

"""The whole corpus of requests, of every wire, through the gateway to one API of the real server: GATEWAY API.

One line of JSON: how many it took at once, how many only after the gateway had learned, and which it refused.
"""
import json, pathlib, sys, tomllib, urllib.error, urllib.request
from concurrent.futures import ThreadPoolExecutor

GATEWAY, API = sys.argv[1:]
CORPUS = pathlib.Path(__file__).resolve().parents[3] / "crates/photic/tests/wires"
MODEL = "chart-reader"
PATHS = {
    "openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic": "/v1/messages",
    "gemini": f"/v1beta/models/{MODEL}:generateContent", "bedrock-converse": f"/model/{MODEL}/converse", "ollama": "/api/chat",
}
# Where each wire says how long an answer may be: one token is enough to have read the question.
MAX_TOKENS = {
    "openai-chat": ["max_completion_tokens"], "openai-responses": ["max_output_tokens"], "anthropic": ["max_tokens"],
    "gemini": ["generationConfig", "maxOutputTokens"], "bedrock-converse": ["inferenceConfig", "maxTokens"],
    "ollama": ["options", "num_predict"],
}


def request(folder):
    """The body and its wire; none for what is no request."""
    case, body = tomllib.loads((folder / "case.toml").read_text()), folder / "in.json"
    if case.get("wire") not in PATHS or folder.name.startswith("reply-") or not body.exists():
        return None
    try:
        body = json.loads(body.read_bytes())
    except ValueError:  # some are no JSON on purpose
        return None
    if not isinstance(body, dict):
        return None
    inner = body
    for name in MAX_TOKENS[case["wire"]][:-1]:
        inner = inner.setdefault(name, {})
    inner[MAX_TOKENS[case["wire"]][-1]] = 1
    if case["wire"] == "openai-chat":
        body.pop("max_tokens", None)
    if case["wire"] not in ("gemini", "bedrock-converse"):
        body.update(model=MODEL, stream=False)
    body.pop("stream_options", None)
    return case["wire"], body


def post(folder):
    found = request(folder)
    if found is None:
        return None
    wire, body = found
    try:
        body = json.dumps(body, allow_nan=False).encode()
    except ValueError:  # numbers that Python cannot write again
        return None
    asked = urllib.request.Request(GATEWAY + PATHS[wire], body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(asked, timeout=120) as reply:
            reply.read()
            return folder.name, "healed" if reply.headers["x-photic-healed"] else "taken", reply.headers["x-photic-healed"]
    except urllib.error.HTTPError as error:
        return folder.name, "refused", f"{error.code} {error.read().decode(errors='replace')[:300]}"


with ThreadPoolExecutor(2) as pool:
    outcomes = [one for one in pool.map(post, sorted(file.parent for file in CORPUS.glob("*/case.toml"))) if one]
count = lambda kind: sum(how == kind for _, how, _ in outcomes)
listed = {name: why for name, how, why in outcomes if how != "taken"}
print(json.dumps({"api": API, "requests": len(outcomes), "taken": count("taken"), "healed": count("healed"),
                  "refused": count("refused"), "listed": listed}))

"""One family's keys to another: a key reaches the host that its owner named, or nobody."""
import atexit, gzip, json

from harness import Photic, Upstream, attack, harm_if
from running import CHAT, CONVERSE, GEMINI, MESSAGES, Run, ask

# The variable of each family.
VARIABLES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL", "google": "GOOGLE_GEMINI_BASE_URL",
             "ollama": "OLLAMA_HOST", "amazon": "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"}
made = {}


def shared():
    """One `photic run` with an upstream for each family."""
    if not made:
        made["upstreams"] = {family: Upstream() for family in VARIABLES}
        variables = {VARIABLES[family]: one.url for family, one in made["upstreams"].items()}
        variables["OPENAI_BASE_URL"] += "/v1"
        made["run"] = Run(variables={**variables, "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
                                     "AWS_SECRET_ACCESS_KEY": "secret"})
        atexit.register(made["run"].close)
    return made["run"], made["upstreams"]


def crossed(count, family, path, headers, body=None, method="POST"):
    """A client of a family asks for a path; nobody else may see its key."""
    run, upstreams = shared()
    key = f"key-{count}-of-{family}"
    path = path.format(key=key)
    headers = {name: value.format(key=key) for name, value in headers.items()}
    base = run.bases[VARIABLES[family]].removesuffix("/v1").rstrip("/")
    ask(base + path, method, body, headers)
    for other, upstream in upstreams.items():
        harm_if(other != family and upstream.got(key), f"the key of {family} reached {other}")


BEARER, OWN, GOOGLE = {"authorization": "Bearer {key}"}, {"x-api-key": "{key}"}, {"x-goog-api-key": "{key}"}
AWS = {"authorization": "AWS4-HMAC-SHA256 Credential={key}/20260101/eu-west-1/bedrock/aws4_request"}
for count, (family, path, headers, body, method) in enumerate([
    ("anthropic", "/v1/files", BEARER, {"file": "x"}, "POST"),
    ("anthropic", "/v1/models", BEARER, None, "GET"),
    ("anthropic", "/v1/embeddings", BEARER, {"input": "x"}, "POST"),
    ("anthropic", "/api/hello", OWN, None, "HEAD"),
    ("anthropic", "/api/oauth/profile", BEARER, None, "GET"),
    ("anthropic", "/v1beta/models", OWN, None, "GET"),
    ("anthropic", "/v1/chat/completions", OWN, CHAT, "POST"),
    ("anthropic", "/v1/responses", OWN, {"model": "m", "input": "x"}, "POST"),
    ("anthropic", "/v1/organizations/me", BEARER, None, "GET"),
    ("openai", "/v1/messages", BEARER, MESSAGES, "POST"),
    ("openai", "/v1/messages/count_tokens", BEARER, MESSAGES, "POST"),
    ("openai", "/v1/messages/batches", BEARER, {"requests": []}, "POST"),
    ("openai", "/api/v1/chat/completions", BEARER, CHAT, "POST"),
    ("openai", "/v1beta/openai/chat/completions", BEARER, CHAT, "POST"),
    ("google", "/v1/models?key={key}", {}, None, "GET"),
    ("google", "/upload/v1beta/files?key={key}", {}, {"x": 1}, "POST"),
    ("google", "/v1/chat/completions", GOOGLE, CHAT, "POST"),
    ("google", "/v1/batches", BEARER, {"x": 1}, "POST"),
    ("ollama", "/v1/chat/completions", BEARER, CHAT, "POST"),
    ("ollama", "/v1/messages", BEARER, MESSAGES, "POST"),
    ("ollama", "/v1/models", BEARER, None, "GET"),
    ("amazon", "/inference-profiles", AWS, None, "GET"),
    ("amazon", "/v1/chat/completions", BEARER, CHAT, "POST"),
]):
    attack(3, f"run: {method} {path.split('?')[0]} with a key of {family}", count=count, family=family, path=path,
           headers=headers, body=body, method=method)(crossed)

# Hosts that nobody named.
PUBLIC = ("api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com", "amazonaws.com", "127.0.0.1:11434")


def fallen_back(settings, path, headers, body, gzipped=False, arguments=(), issuer=None):
    """With upstreams named, what none of them serves goes to nobody: a failure that names another host tried it. With
    none, a key may go to its issuer."""
    with Upstream() as mine:
        text = settings.format(mine=mine.url)
        with Photic(text, *(one.format(mine=mine.url) for one in arguments), config=bool(settings)) as photic:
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            if gzipped:
                body, headers = gzip.compress(body), {**headers, "content-encoding": "gzip"}
            status, _, reply = photic.ask("POST", path, body, headers)
            tried = [host for host in PUBLIC if host != issuer and host in reply.decode(errors="replace")]
            harm_if(tried, f"{tried} was asked: {status} {reply[:200]!r}")


KEY = {"authorization": "Bearer key-of-mine"}
CHAT_ONLY = "[[upstream]]\nurl = '{mine}'\nwire = 'openai-chat'\n"
BY_MODEL = "[[upstream]]\nurl = '{mine}'\nmodels = ['qwen*']\n"
for name, known in {
    "file: another wire": dict(settings=CHAT_ONLY, path="/v1/messages", headers={"x-api-key": "k"}, body=MESSAGES),
    "file: count_tokens": dict(settings=CHAT_ONLY, path="/v1/messages/count_tokens", headers=KEY, body=MESSAGES),
    "file: another wire of the family": dict(
        settings=CHAT_ONLY, path="/v1/responses", headers=KEY, body={"model": "m", "input": "x"}),
    "file: Gemini": dict(
        settings=CHAT_ONLY, path="/v1beta/models/g:generateContent", headers={"x-goog-api-key": "k"}, body=GEMINI),
    "file: Bedrock": dict(settings=CHAT_ONLY, path="/model/m/converse", headers=KEY, body=CONVERSE),
    "file: Ollama": dict(settings=CHAT_ONLY, path="/api/v1/chat/completions", headers=KEY, body=CHAT),
    "file: another model": dict(settings=BY_MODEL, path="/v1/chat/completions", headers=KEY, body=CHAT),
    "file: no model": dict(settings=BY_MODEL, path="/v1/chat/completions", headers=KEY, body={"messages": []}),
    "file: no JSON": dict(settings=BY_MODEL, path="/v1/chat/completions", headers=KEY, body=b"{nonsense"),
    "file: a body in gzip": dict(
        settings=BY_MODEL, path="/v1/chat/completions", headers=KEY, body={**CHAT, "model": "qwen3"}, gzipped=True),
    "file: embeddings": dict(settings=BY_MODEL, path="/v1/embeddings", headers=KEY, body={"input": "x"}),
    "file: a path of Azure": dict(
        settings=BY_MODEL, path="/openai/deployments/x/chat/completions", headers={"api-key": "k"}, body=CHAT),
    "flag: another wire": dict(settings="", arguments=["--upstream", "openai-chat={mine}"], path="/v1/messages",
                               headers={"x-api-key": "k"}, body=MESSAGES),
    "nothing set: a key of Anthropic to OpenAI": dict(
        settings="", path="/v1/chat/completions", headers={"authorization": "Bearer sk-ant-1"}, body=CHAT),
    "nothing set: a key of OpenAI to Anthropic": dict(
        settings="", path="/v1/messages", headers={"authorization": "Bearer sk-proj-1"}, body=MESSAGES),
    "nothing set: a key of Google to OpenAI": dict(
        settings="", path="/v1/embeddings", headers={"authorization": "Bearer AIza1"}, body={"input": "x"},
        issuer="generativelanguage.googleapis.com"),
    "nothing set: a key of Anthropic to a local port": dict(
        settings="", path="/api/event_logging/batch", headers={"x-api-key": "sk-ant-1"}, body={}),
    "nothing set: a key of OpenRouter to a local port": dict(
        settings="", path="/api/v1/chat/completions", headers={"authorization": "Bearer sk-or-v1-1"}, body=CHAT),
    "nothing set: a key of Azure to OpenAI": dict(
        settings="", path="/openai/deployments/x/chat/completions", headers={"api-key": "k"}, body=CHAT),
    "nothing set: an unknown key on a path of nobody": dict(
        settings="", path="/v1/files", headers={"authorization": "Bearer who-knows"}, body={}),
    "nothing set: a signature of Amazon to OpenAI": dict(
        settings="", path="/v1/files", headers={"authorization": "AWS4-HMAC-SHA256 Credential=x"}, body={},
        issuer="amazonaws.com"),
}.items():
    attack(3, name, **known)(fallen_back)

"""The client scripts of tests/e2e/clients with photic in the process: SCRIPT, `photic` or `middleware` > edited script.

Each edit is the line that docs/python.md or docs/node.md names, put where the script makes its client.
"""
import pathlib, re, sys

CLIENTS = pathlib.Path(__file__).resolve().parents[1] / "clients"

PYTHON = '''
from functools import partial as _with
import httpx2, openai as _openai, anthropic as _anthropic, photic.anthropic, photic.httpx2, photic.langchain

_repairing = lambda: _openai.DefaultHttpx2Client(transport=photic.httpx2.Transport())
OpenAI, AzureOpenAI = (_with(one, http_client=_repairing()) for one in (OpenAI, AzureOpenAI))
Anthropic, AnthropicBedrock, AnthropicFoundry, AnthropicVertex = (
    _with(one, middleware=[photic.anthropic.middleware()])
    for one in (Anthropic, AnthropicBedrock, AnthropicFoundry, AnthropicVertex))
create_agent = _with(create_agent, middleware=[photic.langchain.PhoticMiddleware()])
OpenAIProvider, AnthropicProvider = (
    lambda make=one: make(http_client=httpx2.AsyncClient(transport=photic.httpx2.AsyncTransport()))
    for one in (OpenAIProvider, AnthropicProvider))
'''

OTHERS = '''
import httpx2, photic.boto3, photic.httpx, photic.httpx2

_client, _Ollama, _Mistral = genai.Client, Ollama, Mistral
genai.Client = lambda: _client(http_options=types.HttpOptions(
    httpx_client=httpx2.Client(transport=photic.httpx2.Transport())))
_boto3_client = boto3.client
boto3.client = lambda *all, **more: photic.boto3.install(_boto3_client(*all, **more))
Ollama = lambda: _Ollama(transport=photic.httpx.Transport())
Mistral = lambda **all: _Mistral(client=httpx2.Client(transport=photic.httpx2.Transport()), **all)
'''

# Where, what was there, and what is there instead.
EDITS = {
    "client.py": [(r"(?m)^ROWS, CHARTS = ", PYTHON + "\nROWS, CHARTS = ")],
    "others.py": [(r"(?m)^ROWS, CHARTS = ", OTHERS + "\nROWS, CHARTS = ")],
    "client.mjs": [
        (r"import OpenAI from 'openai';", "import OpenAI from 'openai';\nimport { photicFetch } from 'photic';"),
        (r"new OpenAI\(\{ ", "new OpenAI({ fetch: photicFetch(), "),
        (r"new Anthropic\(\{ ", "new Anthropic({ fetch: photicFetch(), "),
    ],
    "ai.mjs": [
        (r"import \{ z \} from 'zod';", "import { z } from 'zod';\nimport { photicFetch } from 'photic';"),
        (r"createOpenAICompatible\(\{ ", "createOpenAICompatible({ fetch: photicFetch(), "),
        (r"createOpenAI\(\)", "createOpenAI({ fetch: photicFetch() })"),
        (r"createAnthropic\(\)", "createAnthropic({ fetch: photicFetch() })"),
    ],
}

MIDDLEWARE = {
    "ai.mjs": [
        (r"import \{ z \} from 'zod';", "import { z } from 'zod';\nimport { photicMiddleware } from 'photic';"),
        (r"model: models\[entry\]\(model\)", "model: sdk.wrapLanguageModel({ model: models[entry](model), middleware: photicMiddleware({ version: isSeven ? 'v4' : 'v3' }) })"),
    ],
}

name, way = sys.argv[1:]
text = (CLIENTS / name).read_text()
for there, instead in (EDITS if way == "photic" else MIDDLEWARE)[name]:
    text, count = re.subn(there, lambda _: instead, text)
    assert count, f"{name}: `{there}` is not there any more"
sys.stdout.write(text)

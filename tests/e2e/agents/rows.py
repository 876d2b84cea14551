"""The rows of docs/agents.md: how each agent is run, and the rows that cannot be had, with the reason.

In commands, variables and files, $URL is the address of the strict provider, $HOME a fresh home, $CHART a chart in the
folder of the project, and $SCRIPTS the folder of this file. Nothing else is set: `photic run` has to find the rest.
"""
import dataclasses, json


@dataclasses.dataclass
class Row:
    """One run of an agent."""
    # The name in crates/photic-cli/data/agents.toml, or of a library that photic run knows by its variables.
    agent: str
    # What is special about this run: a mode, a provider.
    mode: str
    # The wire of its requests.
    wire: str
    command: list
    env: dict = dataclasses.field(default_factory=dict)
    files: dict = dataclasses.field(default_factory=dict)
    # Written to its standard input.
    stdin: str = ""
    # The wire of the upstream, if photic translates to another.
    to: str = ""
    # Set if the upstream has no WebSocket, although the provider has.
    posts: bool = False
    # Settings of photic, as TOML.
    settings: str = ""
    # Said in the table in place of "no", if the agent itself does not send the picture.
    why: str = ""
    # Run only in the long form (PHOTIC_AGENTS=all).
    long: bool = False


def ask(tool, **arguments):
    """The provider makes the calls that a user spells out."""
    return f"Please call {tool} with {json.dumps(arguments)}."


def claude(mode, model, wire="Messages", to="", long=False, **env):
    command = ["claude", "-p", ask("Read", file_path="$CHART"), "--model", model, "--permission-mode", "bypassPermissions"]
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1"}
    return Row("Claude Code", mode, wire, command, {**quiet, **env}, to=to, long=long)


def codex(mode, to="", posts=False):
    command = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.4",
               ask("view_image", path="$CHART")]
    return Row("Codex", mode, "Responses", command, {"OPENAI_BASE_URL": "$URL/v1", "CODEX_API_KEY": "any"}, to=to, posts=posts)


def gemini(mode, to="", long=False):
    command = ["gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", ask("read_file", file_path="$CHART")]
    env = {"GOOGLE_GEMINI_BASE_URL": "$URL", "GEMINI_API_KEY": "any", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return Row("Gemini CLI", mode, "Gemini", command, env, to=to, long=long)


def opencode(provider, model, wire, long=False, **env):
    command = ["opencode", "run", "-m", f"{provider}/{model}"]
    names = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"]
    # Offline: it would install a package for plugins that are not there.
    quiet = {"npm_config_offline": "true"} | {f"OPENCODE_DISABLE_{name}": "1" for name in names}
    # It puts arguments into quotes.
    return Row("opencode", provider, wire, command, {**quiet, **env}, stdin=ask("read", filePath="$CHART"), long=long)


def qwen(kind, model, wire, to="", long=False, **env):
    command = ["qwen", "--auth-type", kind, "--approval-mode", "yolo", "--model", model, "-p", ask("read_file", file_path="$CHART")]
    return Row("qwen-code", kind, wire, command, env, to=to, long=long)


def pi(model, wire, to="", long=False, **env):
    command = ["pi", "-p", "--no-session", "--model", model, ask("read", path="$CHART")]
    return Row("pi", model.split("/")[0], wire, command, {"PI_OFFLINE": "1", **env}, to=to, long=long)


def copilot(mode, arguments, why=""):
    env = {"COPILOT_PROVIDER_BASE_URL": "$URL/v1", "COPILOT_PROVIDER_API_KEY": "any", "COPILOT_MODEL": "qwen3-vl-plus",
           "COPILOT_OFFLINE": "true"}
    return Row("Copilot CLI", mode, "Chat", ["copilot", "-p", *arguments, "--allow-all"], env, why=why)


def droid(provider, base, model, wire, long=False):
    model = {"model": model, "displayName": "M", "baseUrl": base, "apiKey": "any", "provider": provider, "noImageSupport": False}
    return Row("droid", provider, wire, ["droid", "exec", "-m", "custom:M-0", "--auto", "high", ask("Read", file_path="$CHART")],
               {"FACTORY_API_KEY": "any"}, {".factory/settings.json": json.dumps({"customModels": [model]})}, long=long)


CONTINUE = """name: e2e
version: 0.0.1
schema: v1
models:
  - name: mock
    provider: openai
    model: gpt-4o
    apiKey: any
    apiBase: $URL/v1
    roles: [chat]
    capabilities: [tool_use, image_input]
"""

AIDER = ["aider", "--model", "openai/gpt-4o", "--no-check-update", "--no-show-release-notes", "--yes-always", "--no-git",
         "--no-stream", "--map-tokens", "0", "--message", "Which colors are these?", "$CHART"]
OPENAI = {"OPENAI_BASE_URL": "$URL/v1", "OPENAI_API_KEY": "any"}
ANTHROPIC = {"ANTHROPIC_BASE_URL": "$URL", "ANTHROPIC_API_KEY": "any"}

ROWS = [
    claude("API key", "claude-sonnet-4-5", **ANTHROPIC),
    claude("Bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "Messages in InvokeModel", CLAUDE_CODE_USE_BEDROCK="1",
           AWS_REGION="us-east-1", AWS_BEARER_TOKEN_BEDROCK="any", ANTHROPIC_BEDROCK_BASE_URL="$URL"),
    claude("Vertex", "claude-sonnet-4-5", "Messages in rawPredict", CLAUDE_CODE_USE_VERTEX="1", CLAUDE_CODE_SKIP_VERTEX_AUTH="1",
           CLOUD_ML_REGION="us-east5", ANTHROPIC_VERTEX_PROJECT_ID="p", ANTHROPIC_VERTEX_BASE_URL="$URL/v1"),
    claude("Foundry", "claude-sonnet-4-5", CLAUDE_CODE_USE_FOUNDRY="1", ANTHROPIC_FOUNDRY_API_KEY="any",
           ANTHROPIC_FOUNDRY_BASE_URL="$URL/anthropic"),
    claude("Mantle", "anthropic.claude-sonnet-4-5", CLAUDE_CODE_USE_MANTLE="1", AWS_REGION="us-east-1",
           AWS_BEARER_TOKEN_BEDROCK="any", ANTHROPIC_BEDROCK_MANTLE_BASE_URL="$URL/anthropic"),
    claude("API key", "claude-sonnet-4-5", to="openai-chat", **ANTHROPIC),
    codex("API key, WebSocket"),
    codex("API key, HTTP", posts=True),
    codex("API key", to="anthropic"),
    opencode("openai", "gpt-5.4", "Responses", **OPENAI),
    opencode("anthropic", "claude-sonnet-4-5", "Messages", long=True, **ANTHROPIC),
    gemini("API key, fresh home"),
    gemini("API key, fresh home", to="anthropic", long=True),
    qwen("openai", "qwen3-vl-plus", "Chat", **OPENAI),
    qwen("openai", "qwen3-vl-plus", "Chat", to="anthropic", long=True, **OPENAI),
    qwen("anthropic", "claude-sonnet-4-5", "Messages", long=True, ANTHROPIC_MODEL="claude-sonnet-4-5", **ANTHROPIC),
    pi("anthropic/claude-sonnet-4-5", "Messages", **ANTHROPIC),
    pi("openai/gpt-5.4", "Responses", **OPENAI),
    pi("anthropic/claude-sonnet-4-5", "Messages", to="openai-chat", long=True, **ANTHROPIC),
    copilot("attachment", ["Which colors are these?", "--attachment", "$CHART"]),
    copilot("its `view` tool", [ask("view", path="$CHART")],
            why="no: it replaces the picture by \"Viewed image file successfully.\" before it sends it"),
    droid("anthropic", "$URL", "claude-sonnet-4-5", "Messages"),
    droid("generic-chat-completion-api", "$URL/v1", "gpt-4o", "Chat", long=True),
    droid("openai", "$URL/v1", "gpt-5.4", "Responses", long=True),
    Row("Continue CLI", "openai", "Chat", ["cn", "--auto", "-p", ask("Read", filepath="$CHART")],
        {"CONTINUE_TELEMETRY_ENABLED": "0"}, {".continue/config.yaml": CONTINUE},
        why="no: its `Read` sends the bytes of the file as text, and they are lost in it"),
    Row("aider", "file argument", "Chat", AIDER,
        {"OPENAI_API_BASE": "$URL/v1", "OPENAI_API_KEY": "any", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}),
    Row("smolagents", "user image", "Chat", ["python", "$SCRIPTS/use_smolagents.py", "$CHART", "1"], OPENAI),
    Row("smolagents", "user image, three steps", "Chat", ["python", "$SCRIPTS/use_smolagents.py", "$CHART", "3"], OPENAI),
    Row("smolagents", "three steps, `[record] references = true`", "Chat", ["python", "$SCRIPTS/use_smolagents.py", "$CHART", "3"], OPENAI,
        settings="[record]\ndirectory = '$HOME/sessions'\nreferences = true\n"),
    Row("browser-use", "screenshot", "Chat", ["python", "$SCRIPTS/use_browser.py", "$CHART"], OPENAI),
    Row("OpenHands", "file_editor", "Chat",
        ["openhands", "--headless", "--override-with-envs", "--always-approve", "--exit-without-confirmation", "-t",
         ask("file_editor", command="view", path="$CHART", security_risk="LOW", summary="Look")],
        {"OPENAI_API_BASE": "$URL/v1", "OPENAI_API_KEY": "any", "LLM_API_KEY": "any", "LLM_MODEL": "openai/gpt-4o",
         "LITELLM_LOCAL_MODEL_COST_MAP": "True"}, long=True),
]

# Agents without a run, and why.
ABSENT = [
    ("oh-my-pi", "–", "Messages", "it needs bun, and its current version does not install from the registry"),
    ("Kilo CLI", "–", "Responses, Messages", "a fork of opencode; it does not end without a network"),
    ("Cline CLI", "–", "Chat, Responses", "its base URL is stored by `cline auth`, and a background process of its own keeps settings beyond the command; it gets a hint"),
    ("goose", "–", "Chat", "its binary is not in a registry"),
    ("crush", "–", "Chat", "its package downloads a binary from a code host"),
    ("Amp, auggie", "–", "their own", "they speak to services of their own, not to a model's API"),
]

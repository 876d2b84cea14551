"""Real agents resume sessions that an image bricked: PHOTIC FOLDER-OF-AGENTS [AGENT…].

Each agent writes a session of its own at the strict provider, with a picture in it. The picture is
then made sick in the file; the agent resumes, and must be turned down; `photic doctor` must say so,
and `--fix --in-place` repair it; the agent resumes the latest session, and the one that doctor names
by its ID, and must be answered each time, with the picture. One line for each agent; exit 1 if one is
not as it should be.
"""
import base64, concurrent.futures, contextlib, dataclasses, json, os, pathlib, re, shlex, sqlite3, subprocess, sys
import tempfile, time, urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import pictures  # noqa: E402

PHOTIC, AGENTS = sys.argv[1], pathlib.Path(sys.argv[2])
WORDS = "Say what you see."
# What agents resume the latest session by.
LATEST = ["resume", "--last"], ["--resume", "latest"], ["--continue"]
# Most of it is waiting for a machine that others use, too.
SECONDS = 200


@dataclasses.dataclass
class Agent:
    """How an agent is run; $PICTURE, $HOME and $URL stand for what is known only then."""
    first: list
    again: list
    # Where its sessions are, below its home.
    sessions: str
    env: dict = dataclasses.field(default_factory=dict)
    # What it reads its settings from.
    files: dict = dataclasses.field(default_factory=dict)
    # What is too long for one maker's models is nothing to another's.
    sick: tuple = (8200, 40)


def program(name):
    return str(AGENTS / "node_modules/.bin" / name)


def claude():
    # The provider makes the calls that a user spells out.
    ask = "Please call Read with " + json.dumps({"file_path": "$PICTURE"}) + "."
    more = ["--model", "claude-sonnet-4-5", "--output-format", "json", "--allowedTools", "Read"]
    return Agent(
        first=[program("claude"), "-p", ask, *more],
        again=[program("claude"), "-p", WORDS, "--continue", *more],
        sessions=".claude/projects/**/*.jsonl",
        env={"ANTHROPIC_BASE_URL": "$URL", "ANTHROPIC_API_KEY": "any", "DISABLE_AUTOUPDATER": "1",
             "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1"},
    )


def codex():
    provider = ('model_providers.mock={ name = "mock", base_url = "$URL/v1", wire_api = "responses", '
                'env_key = "OPENAI_API_KEY", request_max_retries = 0, stream_max_retries = 0 }')
    base = [program("codex"), "exec", "--skip-git-repo-check", "-c", provider, "-c", 'model_provider="mock"', "-m", "gpt-5.1"]
    return Agent(
        first=[*base, "-i", "$PICTURE", "--", WORDS],
        again=[*base, "resume", "--last", WORDS],
        sessions=".codex/sessions/**/*.jsonl",
        env={"OPENAI_API_KEY": "any", "CODEX_API_KEY": "any", "CODEX_HOME": "$HOME/.codex"},
        files={".codex/config.toml": ""},
        sick=(65600, 1),
    )


def gemini():
    base = [program("gemini"), "-m", "gemini-2.5-pro", "--output-format", "json"]
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False},
                "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}
    return Agent(
        first=[*base, "-p", WORDS + " @shot.png"],
        again=[*base, "--resume", "latest", "-p", WORDS],
        sessions=".gemini/tmp/**/chats/*.json*",
        env={"GEMINI_API_KEY": "any", "GOOGLE_GEMINI_BASE_URL": "$URL", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        files={".gemini/settings.json": json.dumps(settings)},
    )


def opencode():
    base = [str(AGENTS / "node_modules/opencode-linux-x64/bin/opencode"), "run", "-m", "anthropic/claude-sonnet-4-5"]
    config = {"autoupdate": False, "share": "disabled", "small_model": "anthropic/claude-sonnet-4-5",
              "provider": {"anthropic": {"options": {"baseURL": "$URL/v1", "apiKey": "any"}}}}
    names = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"]
    return Agent(
        first=[*base, "-f", "$PICTURE", "--", WORDS],
        again=[*base, "--continue", "--", WORDS],
        sessions=".local/share/opencode/opencode.db",
        # Offline: it would install a package for plugins that are not there.
        env={"npm_config_offline": "true"} | {f"OPENCODE_DISABLE_{name}": "1" for name in names},
        files={".config/opencode/opencode.json": json.dumps(config)},
    )


def pi():
    model = {"id": "claude-sonnet-4-5", "name": "mock", "input": ["text", "image"], "reasoning": False,
             "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, "contextWindow": 200000, "maxTokens": 1000}
    models = {"providers": {"mock": {"baseUrl": "$URL", "api": "anthropic-messages", "apiKey": "any", "models": [model]}}}
    base = [program("pi"), "-p", "--provider", "mock", "--model", "claude-sonnet-4-5"]
    return Agent(
        first=[*base, "@$PICTURE", WORDS],
        again=[*base, "--continue", WORDS],
        sessions=".pi/agent/sessions/**/*.jsonl",
        env={"PI_OFFLINE": "1"},
        files={".pi/agent/models.json": json.dumps(models)},
    )


def qwen():
    base = [program("qwen"), "--auth-type", "openai", "--model", "qwen3-vl-plus", "--output-format", "json", "--approval-mode", "yolo"]
    ask = "Please call read_file with " + json.dumps({"file_path": "$PICTURE"}) + "."
    # Unless told so, it puts what tools return where this wire has no place for pictures.
    settings = {"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False},
                "model": {"generationConfig": {"modalities": {"image": True}, "splitToolMedia": True, "maxRetries": 0}}}
    return Agent(
        first=[*base, "-p", ask],
        again=[*base, "--continue", "-p", WORDS],
        sessions=".qwen/projects/**/*.jsonl",
        env={"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": "$URL/v1", "OPENAI_MODEL": "qwen3-vl-plus"},
        files={".qwen/settings.json": json.dumps(settings)},
    )


def png(width, height):
    return pictures.png(width, height, (b"\0" + b"\x30\x60\x90" * width) * height, level=6)


def infect(path, sick):
    """Puts the sick picture wherever one stands; how many there were."""
    sick = base64.b64encode(sick).decode()
    count = 0

    def text(old):
        nonlocal count
        new, found = re.subn(r"(?:iVBOR|/9j/|UklG)[A-Za-z0-9+/]{60,}={0,2}", sick, old)
        count += found
        # The agent may have made another type of it.
        return re.sub("image/(jpeg|webp)", "image/png", new) if found else old

    if path.suffix == ".db":
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            for row, data in database.execute("SELECT rowid, data FROM part").fetchall():
                database.execute("UPDATE part SET data = ? WHERE rowid = ?", (text(data), row))
    else:
        path.write_text(text(path.read_text()))
    return count


class Try:
    """One agent, in a home and at a provider of its own."""

    def __init__(self, agent, home, url):
        self.agent, self.home, self.url = agent, home, url
        self.picture = home / "project/shot.png"
        self.picture.parent.mkdir()
        self.picture.write_bytes(png(40, 40))
        for name, text in agent.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(self.known(text))
        own = {"HOME": "$HOME", "XDG_DATA_HOME": "$HOME/.local/share", "XDG_CONFIG_HOME": "$HOME/.config",
               "XDG_STATE_HOME": "$HOME/.local/state", "XDG_CACHE_HOME": "$HOME/.cache"}
        self.env = {**os.environ, **{key: self.known(value) for key, value in {**own, **agent.env}.items()}}

    def known(self, text):
        return text.replace("$PICTURE", str(self.picture)).replace("$HOME", str(self.home)).replace("$URL", self.url)

    def run(self, command):
        """Its code, its last words, and what it asked the provider."""
        before = len(self.asked())
        done = subprocess.run([self.known(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=SECONDS, cwd=self.home / "project", env=self.env)
        return done.returncode, (done.stdout + done.stderr)[-600:], self.asked()[before:]

    def asked(self):
        with urllib.request.urlopen(f"{self.url}/__mock/requests") as reply:
            return json.load(reply)["requests"]

    def doctor(self, *more):
        return subprocess.run([PHOTIC, "doctor", *more], capture_output=True, text=True, env=self.env)

    def go(self):
        """Why it is not as it should be."""
        code, said, asked = self.run(self.agent.first)
        if code or not any(one["images_sent"] for one in asked):
            return f"does not run: {code} {said} {asked}"
        found = list(self.home.glob(self.agent.sessions))
        files = [path for path in found if infect(path, png(*self.agent.sick))]
        if len(files) != 1:
            return f"left {len(files)} sessions with a picture: {[str(path.relative_to(self.home)) for path in found]}"
        _, said, asked = self.run(self.agent.again)
        if not any(one["status"] >= 400 for one in asked):
            return f"is not turned down: {said} {asked}"
        listed = self.doctor()
        if listed.returncode != 1 or str(files[0]) not in listed.stdout:
            return f"is not found sick: {listed.stdout}{listed.stderr}"
        fixed = self.doctor(str(files[0]), "--fix", "--in-place")
        if fixed.returncode:
            return f"is not repaired: {fixed.stdout}{fixed.stderr}"
        named = self.by_id(json.loads(self.doctor(str(files[0]), "--json").stdout)["resume"]["command"])
        for again in (self.agent.again, named):
            code, said, asked = self.run(again)
            if code or not asked or any(one["status"] != 200 for one in asked):
                return f"is turned down once repaired: {again} {code} {said} {asked}"
            if not any(one["images"] for one in asked):
                return f"lost its picture: {again} {asked}"
        return None

    def by_id(self, command):
        """The command that doctor names, without a terminal: in the place of what resumes the latest session."""
        named, again = shlex.split(command)[1:], self.agent.again
        for latest in LATEST:
            for at in range(len(again)):
                if again[at : at + len(latest)] == latest:
                    return [*again[:at], *named, *again[at + len(latest) :]]
        raise ValueError(again)


def tried(name):
    began = time.monotonic()
    # Agents may leave helpers behind that still write.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with subprocess.Popen([PHOTIC, "mock"], stdout=subprocess.PIPE, text=True) as mock:
            try:
                why = Try(KNOWN[name](), pathlib.Path(folder), mock.stdout.readline().strip()).go()
            except subprocess.TimeoutExpired as error:
                why = f"was not done after {SECONDS} s: {error.cmd[0]} {(error.stdout or b'')[-300:]}"
            finally:
                mock.terminate()
    print(f"{name}: {why or 'turned down, repaired, resumed'} ({time.monotonic() - began:.0f} s)", flush=True)
    return why is None


KNOWN = {one.__name__: one for one in (claude, codex, gemini, opencode, pi, qwen)}
# They wait for each other's machine more than they compute.
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    sys.exit(not all(list(pool.map(tried, sys.argv[3:] or KNOWN))))

"""Real agents resume sessions that an image bricked: PHOTIC FOLDER-OF-AGENTS.

Each agent writes a session of its own at the strict provider, with a picture in it. The picture is
then made sick in the file; the agent resumes, and must fail; `photic doctor --fix --in-place`; the
agent resumes, and must be answered. One line for each agent; exit 1 if one is not as it should be.
"""
import base64, json, os, pathlib, re, struct, subprocess, sys, tempfile, urllib.request, zlib

PHOTIC, AGENTS = sys.argv[1], pathlib.Path(sys.argv[2])
WORDS = "Say what you see."


def png(width, height):
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = b"".join(b"\0" + b"\x30\x60\x90" * width for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


SMALL = png(40, 40)
# What is too long for one maker's models is nothing to another's.
SICK = {"codex": png(65600, 1)}
USUAL = png(8200, 40)


def ran(command, home, more):
    env = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": f"{home}/.local/share",
           "XDG_CONFIG_HOME": f"{home}/.config", "XDG_STATE_HOME": f"{home}/.local/state", **more}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180,
                          cwd=home / "project", env=env)
    return done.returncode, done.stdout + done.stderr


def claude(url):
    env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "any", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
           "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1"}
    program = AGENTS / "node_modules/.bin/claude"
    more = ["--model", "claude-sonnet-4-5", "--output-format", "json", "--allowedTools", "Read"]
    # The provider makes the calls that a user spells out.
    ask = f'Please call Read with {json.dumps({"file_path": "PICTURE"})}.'
    return env, [program, "-p", ask, *more], [program, "-p", WORDS, "--continue", *more], ".claude/projects/**/*.jsonl"


def codex(url):
    env = {"OPENAI_API_KEY": "any", "CODEX_API_KEY": "any", "CODEX_HOME": "HOME/.codex"}
    program = AGENTS / "node_modules/.bin/codex"
    provider = ('model_providers.mock={ name = "mock", base_url = "%s/v1", wire_api = "responses", '
                'env_key = "OPENAI_API_KEY", request_max_retries = 0, stream_max_retries = 0 }' % url)
    base = [program, "exec", "--skip-git-repo-check", "-c", provider, "-c", 'model_provider="mock"', "-m", "gpt-5.1"]
    return env, [*base, "-i", "PICTURE", "--", WORDS], [*base, "resume", "--last", WORDS], ".codex/sessions/**/*.jsonl"


def pi(url):
    models = {"providers": {"mock": {"baseUrl": url, "api": "anthropic-messages", "apiKey": "any", "models": [
        {"id": "claude-sonnet-4-5", "name": "mock", "input": ["text", "image"], "reasoning": False,
         "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, "contextWindow": 200000, "maxTokens": 1000}]}}}
    env = {"PI_OFFLINE": "1", "MODELS": json.dumps(models)}
    program = AGENTS / "node_modules/.bin/pi"
    base = [program, "-p", "--provider", "mock", "--model", "claude-sonnet-4-5"]
    return env, [*base, "@PICTURE", WORDS], [*base, "--continue", WORDS], ".pi/agent/sessions/**/*.jsonl"


def qwen(url):
    env = {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "qwen3-vl-plus"}
    program = AGENTS / "node_modules/.bin/qwen"
    base = [program, "--auth-type", "openai", "--model", "qwen3-vl-plus", "--output-format", "json", "--approval-mode", "yolo"]
    ask = f'Please call read_file with {json.dumps({"file_path": "PICTURE"})}.'
    return env, [*base, "-p", ask], [*base, "--continue", "-p", WORDS], ".qwen/projects/**/*.jsonl"


def requests(url):
    with urllib.request.urlopen(f"{url}/__mock/requests") as reply:
        return json.load(reply)["requests"]


def infect(path, sick):
    """Puts the sick picture where the small one is; the agent may have written it anew."""
    text = path.read_text()
    found = [run for run in re.findall(r"[A-Za-z0-9+/]{60,}={0,2}", text) if run.startswith(("iVBOR", "/9j/", "UklG"))]
    sick = base64.b64encode(sick).decode()
    for run in found:
        text = text.replace(run, sick)
    text = text.replace("image/jpeg", "image/png").replace("image/webp", "image/png")
    path.write_text(text)
    return len(found)


def tried(name, agent):
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen([PHOTIC, "mock"], stdout=subprocess.PIPE, text=True) as mock:
        try:
            home = pathlib.Path(folder)
            (home / "project").mkdir()
            (home / "project/shot.png").write_bytes(SMALL)
            url = mock.stdout.readline().strip()
            env, first, again, sessions = agent(url)
            picture = str(home / "project/shot.png")
            models = env.pop("MODELS", None)
            if models:
                (home / ".pi/agent").mkdir(parents=True)
                (home / ".pi/agent/models.json").write_text(models)
            env = {key: value.replace("HOME/", f"{home}/") for key, value in env.items()}
            if "CODEX_HOME" in env:
                pathlib.Path(env["CODEX_HOME"]).mkdir(parents=True)
            fill = lambda command: [str(word).replace("PICTURE", picture) for word in command]
            code, said = ran(fill(first), home, env)
            if code:
                return f"does not run: {said[-600:]}"
            files = [path for path in home.glob(sessions) if infect(path, SICK.get(name, USUAL))]
            if len(files) != 1:
                return f"left {len(files)} sessions with a picture: {[str(p.relative_to(home)) for p in home.glob(sessions)]} {said[-300:]}"
            before = len(requests(url))
            ran(fill(again), home, env)
            refused = [one for one in requests(url)[before:] if one["status"] >= 400]
            if not refused:
                return f"is not turned down: {requests(url)[before:]}"
            doctor = subprocess.run([PHOTIC, "doctor", str(files[0]), "--fix", "--in-place"], capture_output=True, text=True)
            if doctor.returncode:
                return f"is not repaired: {doctor.stdout}{doctor.stderr}"
            before = len(requests(url))
            code, said = ran(fill(again), home, env)
            answered = requests(url)[before:]
            if code or not answered or any(one["status"] != 200 for one in answered):
                return f"is turned down once repaired: {code} {said[-600:]} {answered}"
            if not any(one["images"] for one in answered):
                return f"lost its picture: {answered}"
            return None
        finally:
            mock.terminate()


failed = False
for name, agent in {"claude": claude, "codex": codex, "pi": pi, "qwen": qwen}.items():
    if sys.argv[3:] and name not in sys.argv[3:]:
        continue
    try:
        why = tried(name, agent)
    except Exception as error:  # one agent that hangs is not to hide the others
        why = f"{type(error).__name__}: {error}"
    failed |= why is not None
    print(f"{name}: {why or 'turned down, repaired, resumed'}", flush=True)
sys.exit(failed)

"""Published hosts and the configuration that `photic mcp --print` writes for them.

--packages FOLDER: writes package.json files; one line a host, `FOLDER FILE DAY`, Node first.
PHOTIC AGENTS ROOT WORK: writes each snippet where its host looks, in a home of its own, and asks the host for its
servers. What connects is printed; a host that is installed and does not list the server fails."""
import os, pathlib, re, subprocess, sys, tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "agents"))
import packages  # noqa: E402

# The id of `--print`, the agent of data/agents.toml, the file in the home, the question, and the answer.
HOSTS = [
    ("claude-code", "Claude Code", ".claude.json", ["claude", "mcp", "list"], r"photic: .* Connected"),
    ("codex", "Codex", ".codex/config.toml", ["codex", "mcp", "list", "--json"], r'"name": "photic",\s+"enabled": true'),
    ("gemini", "Gemini CLI", ".gemini/settings.json", ["gemini", "mcp", "list"], r"photic: .* Connected"),
    ("opencode", "opencode", ".config/opencode/opencode.json", ["opencode", "mcp", "list"], r"photic connected"),
    ("qwen-code", "qwen-code", ".qwen/settings.json", ["qwen", "mcp", "list"], r"photic: .* Connected"),
]
TABLE = tomllib.loads((HERE.parents[2] / "crates/photic-cli/data/mcp_hosts.toml").read_text())["host"]
CHECKED = {host["id"]: host["checked"] for host in TABLE}
COLORS = re.compile(r"\x1b\[[0-9;]*m")


def write_packages(target):
    print("node", packages.package_json(target, "node", "node", packages.NODE), packages.day_after(packages.NODE_DAY))
    for _, name, *_ in HOSTS:
        agent, folder = packages.AGENTS[name], packages.folder(name)
        file = packages.package_json(target, folder, agent["package"].removeprefix("npm:"), agent["version"])
        print(folder, file, packages.day_after(agent["tried"]))


def environment(home):
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "OPENAI_API_KEY": "any", "GEMINI_CLI_TRUST_WORKSPACE": "true", "NO_COLOR": "1"}


def ask(photic, agents, root, work, host):
    identity, name, file, command, wanted = host
    program = agents / packages.folder(name) / "node_modules/.bin" / command[0]
    if not program.exists():
        return f"{name}: not installed here"
    home = work / identity
    (home / "project").mkdir(parents=True)
    (home / file).parent.mkdir(parents=True, exist_ok=True)
    printed = [photic, "mcp", "--print", identity, "--root", str(root), "--model", "gpt-5.4"]
    snippet = subprocess.run(printed, check=True, capture_output=True, text=True).stdout
    (home / file).write_text(snippet)
    done = subprocess.run([program, *command[1:]], cwd=home / "project", env=environment(home), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    said = COLORS.sub("", done.stdout)
    if not re.search(wanted, said):
        sys.exit(f"{name} does not know photic by\n{snippet}\nand says:\n{said[-2000:]}")
    version = packages.AGENTS[name]["version"]
    if version not in CHECKED[identity]:
        sys.exit(f"data/mcp_hosts.toml says of {name} {CHECKED[identity]!r}; this is {version}")
    return f"{name} {version}: {CHECKED[identity].split(':')[0]}"


def main(photic, agents, root, work):
    for host in HOSTS:
        print("hosts:", ask(photic, pathlib.Path(agents), pathlib.Path(root), pathlib.Path(work), host))


if sys.argv[1] == "--packages":
    write_packages(pathlib.Path(sys.argv[2]))
else:
    main(*sys.argv[1:])

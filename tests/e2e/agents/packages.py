"""What is installed for docs/agents.md: one line a folder, `npm FOLDER PACKAGE.JSON DAY` or `pip FOLDER REQUIREMENTS PYTHON`.

Versions are those of crates/photic-cli/data/agents.toml, which says what `photic run` was tried with. What they need is
pinned, too: for npm by the day after they were tried (`--before`), for pip by the list of the agent beside this file.
Files that name them are written into FOLDER, the first argument. Agents that have only long rows are left out, unless
they are named by further arguments or PHOTIC_AGENTS is `all`.
"""
import datetime, json, os, pathlib, shutil, subprocess, sys, tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from rows import ROWS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLE = tomllib.loads((ROOT / "crates/photic-cli/data/agents.toml").read_text())["agent"]
AGENTS = {agent["name"]: agent for agent in TABLE}
# Libraries, which `photic run` knows by their variables only.
LIBRARIES = {"smolagents": "1.26.0", "browser-use": "0.13.14"}
# Newer than that of many systems: npm would choose older agents for an older one.
NODE, NODE_DAY = "24.21.0", "2026-11-18"
# The only Python that an agent takes.
PYTHONS = {"OpenHands": "3.12"}


def folder(name):
    return AGENTS[name]["commands"][0] if name in AGENTS else name


def version(name):
    return AGENTS[name]["version"] if name in AGENTS else LIBRARIES[name]


def python(name):
    """The Python of an agent, or nothing if it is not here."""
    wanted = PYTHONS.get(name)
    if not wanted:
        return "python3"
    known = [f"python{wanted}", *map(str, pathlib.Path.home().glob(f".pyenv/versions/{wanted}.*/bin/python3"))]
    # A shim may be there without a Python behind it.
    works = (one for one in known if shutil.which(one) and not subprocess.run([one, "--version"], capture_output=True).returncode)
    return next(works, None)


def day_after(tried):
    """The day after one of `tried`, which may go on with words."""
    return datetime.date.fromisoformat(tried[:10]) + datetime.timedelta(days=1)


def main(target, names):
    everything = os.environ.get("PHOTIC_AGENTS") == "all"
    rows = [row for row in ROWS if everything or not row.long or any(row.agent.startswith(name) for name in names)]
    print("npm node", package_json(target, "node", "node", NODE), day_after(NODE_DAY))
    for name in dict.fromkeys(row.agent for row in rows):
        if name in AGENTS and AGENTS[name]["package"].startswith("npm:"):
            package = AGENTS[name]["package"].removeprefix("npm:")
            print("npm", folder(name), package_json(target, folder(name), package, version(name)), day_after(AGENTS[name]["tried"]))
        elif python(name):
            print("pip", folder(name), pinned(name), python(name))
        else:
            print(f"{name} wants Python {PYTHONS[name]}, which is not here", file=sys.stderr)


def pinned(name):
    """The list of all packages of an agent, itself at its version."""
    file = HERE / f"{folder(name)}.txt"
    package = AGENTS[name]["package"].removeprefix("pypi:") if name in AGENTS else name
    if f"{package}=={version(name)}" not in file.read_text().splitlines():
        sys.exit(f"{file} is not that of {package} {version(name)}")
    return file


def package_json(target, name, package, version):
    file = target / f"{name}.json"
    file.write_text(json.dumps({"private": True, "dependencies": {package: version}}, indent=2) + "\n")
    return file


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])

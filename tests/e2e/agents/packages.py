"""What is installed for docs/agents.md: one line a folder, `npm FOLDER PACKAGE.JSON` or `pip FOLDER REQUIREMENTS PYTHON`.

Versions are those of crates/photic-cli/data/agents.toml, which says what `photic run` was tried with. Files that name
them are written into FOLDER, the only argument.
"""
import json, pathlib, shutil, subprocess, sys, tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from rows import ROWS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLE = tomllib.loads((ROOT / "crates/photic-cli/data/agents.toml").read_text())["agent"]
AGENTS = {agent["name"]: agent for agent in TABLE}
# Libraries, which `photic run` knows by their variables only.
LIBRARIES = {"smolagents": ("1.26.0", ["openai", "pillow"]), "browser-use": ("0.13.14", [])}
# Newer than that of many systems: npm would choose older agents for an older one.
NODE = "24.21.0"


def folder(name):
    return AGENTS[name]["commands"][0] if name in AGENTS else name


def version(name):
    return AGENTS[name]["version"] if name in AGENTS else LIBRARIES[name][0]


def newer_python():
    """A Python of at least 3.12, which OpenHands wants."""
    known = [f"python3.{minor}" for minor in (14, 13, 12)]
    known += map(str, pathlib.Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python3"))
    # A shim may be there without a Python behind it.
    works = [one for one in known if shutil.which(one) and not subprocess.run([one, "--version"], capture_output=True).returncode]
    return next(iter(works), "python3")


def main(target):
    print("npm node", package_json(target, "node", "node", NODE))
    for name in dict.fromkeys(row.agent for row in ROWS):
        if name in LIBRARIES:
            requirements = [f"{name}=={version(name)}", *LIBRARIES[name][1]]
        else:
            registry, package = AGENTS[name]["package"].split(":")
            if registry == "npm":
                print("npm", folder(name), package_json(target, folder(name), package, version(name)))
                continue
            requirements = [f"{package}=={version(name)}"]
        file = target / f"{folder(name)}.txt"
        file.write_text("\n".join(requirements) + "\n")
        print("pip", folder(name), file, newer_python() if name == "OpenHands" else "python3")


def package_json(target, name, package, version):
    file = target / f"{name}.json"
    file.write_text(json.dumps({"private": True, "dependencies": {package: version}}, indent=2) + "\n")
    return file


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

"""What every script of this folder needs to know: the targets, the version, and the time of the commit."""
import os, pathlib, subprocess, tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION = WORKSPACE["version"]
LICENSE = WORKSPACE["license"]
REPOSITORY = WORKSPACE["repository"]
SUMMARY = tomllib.loads((ROOT / "crates/photic-cli/Cargo.toml").read_text())["package"]["description"]
TARGETS = {entry["rust"]: entry for entry in tomllib.loads((ROOT / "release/targets.toml").read_text())["target"]}


def target(name):
    """The entry of a target; ends the script with the known names for any other."""
    if name not in TARGETS:
        raise SystemExit(f"error: `{name}` is no target of release/targets.toml: {', '.join(TARGETS)}")
    return TARGETS[name]


def program_name(entry):
    return "photic.exe" if "windows" in entry["rust"] else "photic"


def stem(entry):
    """Name of an archive without its ending, and of the folder in it."""
    return f"photic-{VERSION}-{entry['rust']}"


def archive_name(entry):
    return f"{stem(entry)}.{entry['archive']}"


def npm_name(entry):
    return "@photic-dev/cli-" + "-".join(entry["npm"])


def addon_name(entry):
    return "@photic-dev/node-" + "-".join(entry["npm"])


def commit_time():
    """Seconds since 1970 that every file of a package bears: SOURCE_DATE_EPOCH, or the time of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    return int(subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True))


def level():
    """How hard to compress, 1 to 9. Tests of packaging take 1, because the size means nothing to them."""
    return int(os.environ.get("PHOTIC_PACK_LEVEL", "9"))


def cargo(*arguments):
    """What a cargo command prints. Nothing is compiled, and the lock file stays as it is."""
    command = [os.environ.get("CARGO", "cargo"), *arguments, "--locked"]
    return subprocess.check_output(command, cwd=ROOT, text=True)

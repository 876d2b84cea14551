"""The check of a bill of materials notices what it is there for: a crate that is missing, added or exchanged, in the
bill or in the program.

    sbom.py TARGET SBOM PROGRAM FOLDER     an ELF program, into which lists of crates are written with objcopy
"""
import copy, json, pathlib, subprocess, sys, zlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET, SBOM, PROGRAM, FOLDER = sys.argv[1:]
FOLDER = pathlib.Path(FOLDER)
GOOD = json.loads(pathlib.Path(SBOM).read_text())


def check(bill, program=None):
    """Exit code of the check, and what it says."""
    path = FOLDER / "changed.cdx.json"
    path.write_text(json.dumps(bill))
    done = subprocess.run([sys.executable, ROOT / "release/check-sbom.py", TARGET, path, *([program] if program else [])],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def with_list(packages):
    """The program with a list of crates in it, as `cargo auditable` writes it."""
    section, program = FOLDER / "list", FOLDER / "audited"
    section.write_bytes(zlib.compress(json.dumps({"packages": packages}).encode()))
    subprocess.run(["objcopy", "--add-section", f".dep-v0={section}", PROGRAM, program], check=True)
    return program


def changed(change):
    bill = copy.deepcopy(GOOD)
    change(bill["components"])
    return bill


def exchange(components):
    [hashed] = [one for one in components if one["name"] == "serde_json"]
    hashed["hashes"][0]["content"] = "0" * 64


packages = [{"name": one["name"], "version": one["version"], "source": "registry"} for one in GOOD["components"]]
packages.append({"name": "photic-cli", "version": GOOD["metadata"]["component"]["version"], "source": "local", "root": True})
stranger = {"name": "stranger", "version": "1.0.0", "source": "registry"}
cases = [
    ("the bill as it is", GOOD, None, ""),
    ("a crate is missing", changed(lambda every: every.pop()), None, "is linked and not in the bill"),
    ("a crate is added", changed(lambda every: every.append({**stranger, "purl": "x"})), None, "in the bill and not linked"),
    ("a crate is exchanged", changed(exchange), None, "serde_json"),
    ("the program as it is", GOOD, packages, ""),
    ("a crate in the program is not in the bill", GOOD, [*packages, stranger], "stranger 1.0.0 is in the program"),
    ("a crate of the bill is not in the program", GOOD, packages[1:], "not in the program's list"),
]
for name, bill, listed, says in cases:
    code, said = check(bill, with_list(listed) if listed else None)
    assert (code == 0) == (says == "") and says in said, f"{name}: {code} {said}"
code, said = check(GOOD, PROGRAM)
assert code and "cargo auditable" in said, f"a program without a list: {said}"
print(f"sbom: {len(cases) + 1} cases are told apart")

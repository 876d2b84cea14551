"""The modules of the same names come in the same packages: a wheel and an npm package with a module and the command.

    modules.py TARGET NATIVE FOLDER     a program that runs here, and an empty folder
"""
import json, os, pathlib, subprocess, sys, tarfile, venv, zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET, NATIVE, FOLDER = sys.argv[1:]
FOLDER = pathlib.Path(FOLDER)
sys.path.insert(0, str(ROOT / "release"))
from facts import VERSION, target  # noqa: E402

# What the packages carry here is a script: pip and npm do not look.
program = FOLDER / "photic"
program.write_text(f"#!/bin/sh\necho photic {VERSION}\n")

platform = target(TARGET)["wheel"][0]
module = FOLDER / f"photic-{VERSION}-py3-none-{platform}.whl"
info = f"photic-{VERSION}.dist-info"
with zipfile.ZipFile(module, "w") as wheel:
    wheel.writestr("photic/__init__.py", "answer = 42\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: photic\nVersion: {VERSION}\n")
    wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n")
    wheel.writestr(f"{info}/RECORD", "")
node = FOLDER / "node"
node.mkdir()
(node / "index.js").write_text("exports.answer = 42;\n")
(node / "package.json").write_text(json.dumps({
    "name": "photic", "version": VERSION, "main": "index.js", "files": ["index.js"], "devDependencies": {"x": "1"},
    "scripts": {"install": "exit 1"}}))

out = FOLDER / "out"
addon = FOLDER / "photic.node"
addon.write_bytes(b"an addon")
subprocess.run([sys.executable, ROOT / "release/package.py", TARGET, program, out, "--native", NATIVE, "--wheel", module,
                "--addon", addon], check=True, stdout=subprocess.DEVNULL)
subprocess.run([sys.executable, ROOT / "release/finish.py", out, "--partial", "--npm-module", node],
               check=True, stdout=subprocess.DEVNULL)

wheel = out / module.name
# Another brings the command alone to where the module cannot be installed.
[alone] = set(out.glob("*.whl")) - {wheel}
assert "musllinux" in alone.name and "manylinux" not in alone.name, alone
venv.create(FOLDER / "venv", with_pip=True)
bin = FOLDER / "venv/bin"
subprocess.run([bin / "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel], check=True,
               env=os.environ | {"PIP_CONFIG_FILE": os.devnull})
assert subprocess.check_output([bin / "photic"], text=True) == f"photic {VERSION}\n"
assert subprocess.check_output([bin / "python", "-c", "import photic; print(photic.answer)"], text=True) == "42\n"

with tarfile.open(out / f"photic-{VERSION}.tgz") as tar:
    names = set(tar.getnames())
    package = json.load(tar.extractfile("package/package.json"))
assert {"package/index.js", "package/bin/photic.js"} <= names, names
assert package["main"] == "index.js" and package["bin"] == {"photic": "bin/photic.js"}, package
[name] = [name for name in package["optionalDependencies"] if name.endswith("-".join(target(TARGET)["npm"])) and "/node-" in name]
assert len(package["optionalDependencies"]) == 9 and not {"scripts", "devDependencies"} & package.keys(), package
with tarfile.open(out / f"{name[1:].replace('/', '-')}-{VERSION}.tgz") as tar:
    addon = json.load(tar.extractfile("package/package.json"))
    assert tar.extractfile("package/photic.node").read() == b"an addon"
assert addon["name"] == name and addon["main"] == "photic.node" and addon["libc"] == ["glibc"] and not addon.get("scripts"), addon

# A module of another version is refused.
old = FOLDER / f"photic-0.0.1-py3-none-{platform}.whl"
module.rename(old)
refused = subprocess.run([sys.executable, ROOT / "release/package.py", TARGET, program, out, "--native", NATIVE, "--wheel", old],
                         capture_output=True, text=True)
assert refused.returncode and "is no wheel of photic" in refused.stderr, refused
print("modules: one wheel and one npm package bring module and command")

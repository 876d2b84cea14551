"""One wheel brings the module and the command: PHOTIC WHEEL FOLDER.

The release adds the program to the wheel of the module (`release/package.py --wheel`). Here the same code adds the
program of the tests, which is too large to say anything of the size; that of the module is judged. The release refuses
a wheel beyond 15 MB.
"""
import os, pathlib, subprocess, sys, types, venv

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "release"))
os.environ.setdefault("PHOTIC_PACK_LEVEL", "1")
from facts import VERSION, target  # noqa: E402
from wheel import MAX_BYTES, wheel  # noqa: E402

program, module, folder = map(pathlib.Path, sys.argv[1:])
cpu = os.uname().machine
entry = target(f"{cpu}-unknown-linux-musl")
size = module.stat().st_size
assert size < MAX_BYTES / 3, f"the wheel of the module has {size} bytes"
# Built here, it is for this machine's Linux; the release builds it for the oldest one.
renamed = folder / f"photic-{VERSION}-cp311-abi3-{entry['wheel'][0]}.whl"
renamed.write_bytes(module.read_bytes())
content = types.SimpleNamespace(entry=entry, program=program.read_bytes(), program_name="photic", sbom=b"{}", notices=b"")
name, data = wheel(content, renamed)
(folder / "whole").mkdir()
whole = folder / "whole" / name
whole.write_bytes(data)
venv.create(folder / "whole/venv", with_pip=True)
bin = folder / "whole/venv/bin"
quiet = os.environ | {"PIP_CONFIG_FILE": os.devnull}
subprocess.run([bin / "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", whole], check=True, env=quiet)
said = subprocess.check_output([bin / "photic", "--version"], text=True)
assert said.startswith(f"photic {VERSION}"), said
body = '{"model":"gpt-4o","messages":[{"role":"user","content":""}]}'
by_command = subprocess.run([bin / "photic", "lower", "-"], input=body.encode(), capture_output=True, check=True).stdout
code = "import sys, photic; sys.stdout.buffer.write(photic.lower(sys.stdin.buffer.read()).body)"
by_module = subprocess.run([bin / "python", "-I", "-c", code], input=body.encode(), capture_output=True, check=True).stdout
assert by_command == by_module, (by_command, by_module)
print(f"one wheel brings the module and the command; the module takes {size / 1e6:.1f} MB of {MAX_BYTES / 1e6:.0f}")

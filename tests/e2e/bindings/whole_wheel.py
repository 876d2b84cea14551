"""One wheel brings the module and the command: PHOTIC WHEEL FOLDER.

`release/wheel.py` adds the program to the wheel of the module, as for a release. The program of the tests is too large
to say anything of the size; that of the module is judged.
"""
import os, pathlib, subprocess, sys, venv

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "release"))
os.environ.setdefault("PHOTIC_PACK_LEVEL", "1")
from facts import VERSION  # noqa: E402
from sizes import PROMISED  # noqa: E402

program, module, folder = map(pathlib.Path, sys.argv[1:])
target = f"{os.uname().machine}-unknown-linux-musl"
size = module.stat().st_size
assert size < PROMISED["wheel"] / 3, f"the wheel of the module has {size} bytes"
subprocess.run([sys.executable, ROOT / "release/wheel.py", target, program, folder / "whole", "--module", module],
               check=True, stdout=subprocess.DEVNULL)
whole = folder / "whole" / module.name
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
print(f"one wheel brings the module and the command; the module takes {size / 1e6:.1f} MB of {PROMISED['wheel'] / 1e6:.0f}")

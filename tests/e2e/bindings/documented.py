"""Runs the code of a page: PAGE LANGUAGE FOLDER. All blocks of the language in order, as one program.

Python runs here, in a namespace of its own; JavaScript and TypeScript are written to FOLDER for Node and tsc.
"""
import os, pathlib, re, shutil, subprocess, sys

page, language, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
blocks = re.findall(rf"(?ms)^```{language}\n(.*?)^```", page.read_text())
assert len(blocks) >= 3, f"{page} has {len(blocks)} blocks"
examples = pathlib.Path(__file__).resolve().parents[3] / "examples"
for name in ("request.json", "orders.png"):
    shutil.copy(examples / name, folder / name)
if language.startswith("python"):
    program = folder / "documented_example.py"
    program.write_text("\n".join(blocks))
    subprocess.run([sys.executable, program.name], cwd=folder, check=True, env=os.environ)
else:
    (folder / f"documented.{'mts' if language == 'ts' else 'mjs'}").write_text("\n".join(blocks))
print(f"{page.name}: {len(blocks)} blocks")

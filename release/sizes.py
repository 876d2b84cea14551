"""Sizes of the files of a release, as a table, and the start of the program where it runs here.

    sizes.py FOLDER [NAME=PROGRAM…]

Fails if a program is larger than what is promised: 45 MB, and 20 MB for one whose name holds `gateway`; or an archive
than 18 MB; or a wheel than 15 MB; or an npm package of the module or an addon than 12 MB.
"""
import os, pathlib, subprocess, sys, time

PROMISED = {"program": 45e6, "gateway": 20e6, "archive": 18e6, "wheel": 15e6, "module": 12e6}
BODY = b'{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]}'


def start(program):
    """Milliseconds of `photic check` on a small body, the best of 20, or nothing if it does not run here."""
    best = None
    for _ in range(20):
        begun = time.perf_counter()
        try:
            subprocess.run([program, "check", "-"], input=BODY, check=True, capture_output=True)
        except OSError:
            return None
        took = 1000 * (time.perf_counter() - begun)
        best = took if best is None else min(best, took)
    return best


def main(folder, *programs):
    too_large = []
    print("| file | bytes | MB |\n|---|---:|---:|")
    for path in sorted(pathlib.Path(folder).iterdir()):
        size = path.stat().st_size
        print(f"| {path.name} | {size:,} | {size / 1e6:.1f} |")
        if path.name.endswith((".tar.gz", ".zip")) and size > PROMISED["archive"]:
            too_large.append(f"{path.name}: {size / 1e6:.1f} MB, at most 18 are promised")
        if path.suffix == ".whl" and size > PROMISED["wheel"]:
            too_large.append(f"{path.name}: {size / 1e6:.1f} MB, at most 15 are promised")
        is_module = path.suffix == ".tgz" and not path.name.startswith("photic-dev-cli-")
        if is_module and size > PROMISED["module"]:
            too_large.append(f"{path.name}: {size / 1e6:.1f} MB, at most 12 are promised")
    for pair in programs:
        name, program = pair.split("=", 1)
        size = os.path.getsize(program)
        took = start(program)
        ran = f", starts in {took:.1f} ms" if took is not None else ""
        print(f"\n{name}: {size:,} bytes{ran}")
        promised = PROMISED["gateway" if "gateway" in name else "program"]
        if size > promised:
            too_large.append(f"{name}: {size / 1e6:.1f} MB, at most {promised / 1e6:.0f} are promised")
    for line in too_large:
        print(f"too large: {line}", file=sys.stderr)
    sys.exit(bool(too_large))


if __name__ == "__main__":
    main(*sys.argv[1:])

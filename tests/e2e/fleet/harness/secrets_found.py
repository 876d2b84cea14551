"""Whether anything that was to stay secret can be found where others look.

A secret may hide behind an encoding, so each is also looked for in hexadecimal (as a dump of a
database has bytes) and in base64, wherever in a text it may begin.
"""

import base64
import os
import pathlib
import subprocess
import tempfile

#: Longer than any name or hash of ours, shorter than any picture.
RUN = "[A-Za-z0-9+/_-]{200}"
#: Files for one run of grep.
TOGETHER = 1000


def spellings(secret):
    plain = secret.encode()
    yield plain
    yield plain.hex().encode()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + plain)
        # Its ends depend on what stands beside it.
        yield encoded[4 if shift else 0 : -4]


def grep(paths, *pattern):
    """The files that hold it."""
    found, paths = [], list(map(str, paths))
    for start in range(0, len(paths), TOGETHER):
        command = ["grep", "--text", "--files-with-matches", *pattern, "--", *paths[start : start + TOGETHER]]
        ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        # 1 says that there is nothing; more, that it could not look.
        if ran.returncode > 1:
            raise SystemExit(f"load: {ran.stderr[:500]}")
        found += ran.stdout.splitlines()
    return found


def search(paths, secrets, runs=False):
    """Where something was found: pairs of a place and what it is, which is never the secret itself."""
    found = []
    with tempfile.NamedTemporaryFile() as needles:
        needles.write(b"\n".join(spelling for secret in secrets for spelling in spellings(secret)))
        needles.flush()
        suspects = grep(paths, "--fixed-strings", "--file", needles.name)
    for path in suspects:
        whole = pathlib.Path(path).read_bytes()
        for number, secret in enumerate(secrets):
            if any(spelling in whole for spelling in spellings(secret)):
                found.append((path, f"secret {number}"))
    if runs:
        found += [(path, "a run of base64") for path in grep(paths, "--extended-regexp", "--regexp", RUN)]
    return found


def files(directory):
    return [path for path in pathlib.Path(directory).rglob("*") if path.is_file()]


def metadata(directory, out):
    """What Swift keeps beside objects is in attributes of its files: written down, to be searched."""
    with open(out, "wb") as file:
        for path in files(directory):
            file.write(f"{path}\n".encode())
            for name in os.listxattr(path):
                file.write(name.encode() + b"=" + os.getxattr(path, name) + b"\n")

"""Somebody watches: PHOTIC SESSION. On a terminal, a long session has a bar that moves; else, none."""
import os, pty, subprocess, sys

command = [sys.argv[1], "doctor", sys.argv[2]]
ours, theirs = pty.openpty()
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
seen = b""
try:
    while piece := os.read(ours, 1 << 16):
        seen += piece
except OSError:  # the last one who wrote to it is gone
    pass
assert process.wait() == 1, process.returncode
bars = {line for line in seen.decode().split("\r") if " MB" in line}
assert len(bars) > 1, seen
assert not subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).stderr
print(f"a bar on a terminal, drawn {len(bars)} times; none elsewhere")

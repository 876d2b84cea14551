"""Counts the instructions of a program with valgrind: the same on a busy machine as on an idle one."""
import re, shutil, subprocess


def count(*command):
    """The instructions that a command executes; none if valgrind is not installed."""
    if not shutil.which("valgrind"):
        return None
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run([*tool, *map(str, command)], check=True, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)[1].replace(",", ""))

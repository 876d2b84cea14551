"""A session of 2 GB against `wc -l`: PROGRAM SESSION SMALL SMALLER.

What decides is counted: it reads the session once, in less than 200 MB of memory, with few system calls, and executes
few instructions for each byte by which SMALL is larger than SMALLER, two sessions that valgrind can read in a moment.
How fast both read the same file, warm, in turns, is printed beside the claim: half the speed of `wc -l`. Only half of
that again fails.
"""
import os, pathlib, subprocess, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from instructions import count  # noqa: E402

PROGRAM, SESSION, SMALL, SMALLER = sys.argv[1:]
MODEL = "claude-sonnet-4-5"
CLAIMED, LEAST = 0.5, 0.25
TURNS = 3
MAX_MB = 200
# Of the bytes of the session; files of the system are read besides.
MAX_READ = 1.02
# For each megabyte.
MAX_CALLS = 20
# For each byte: 1.4 when it was measured (2026-11-18).
MAX_INSTRUCTIONS = 1.8


def run(*command):
    """Seconds on the clock, seconds of the processor, MB, bytes read, calls that read, and what it printed."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    said = process.stdout.read()
    # Ended, and not yet forgotten by the kernel.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    counts = dict(line.split(": ") for line in pathlib.Path(f"/proc/{process.pid}/io").read_text().splitlines())
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, f"{command[0]} ended with {status}"
    spent = usage.ru_utime + usage.ru_stime
    return time.perf_counter() - began, spent, usage.ru_maxrss // 1024, int(counts["rchar"]), int(counts["syscr"]), said


turns = [(run("wc", "-l", SESSION), run(PROGRAM, SESSION, MODEL)) for _ in range(TURNS)]
best = lambda who, what: min(turn[who][what] for turn in turns)
ratio = best(0, 1) / best(1, 1)
size = os.path.getsize(SESSION)
speed = lambda seconds: f"{size / seconds / 1e9:.2f} GB/s"
memory, said = max(turn[1][2] for turn in turns), turns[0][1][5]
read, calls = turns[0][1][3] / size, turns[0][1][4] / (size >> 20)
print(f"{size >> 20} MB in {memory} MB of memory (at most {MAX_MB}), {read:.3f} times its bytes read (at most {MAX_READ}), "
      f"{calls:.1f} reading calls a MB (at most {MAX_CALLS})")
print(f"processor time: {speed(best(1, 1))}, wc -l {speed(best(0, 1))}: {ratio:.2f} of its speed (claimed {CLAIMED}, fails below {LEAST})")
small, smaller = count(PROGRAM, SMALL, MODEL), count(PROGRAM, SMALLER, MODEL)
each = small and (small - smaller) / (os.path.getsize(SMALL) - os.path.getsize(SMALLER))
print(f"{each:.2f} instructions a byte (at most {MAX_INSTRUCTIONS})" if each else "not checked: there is no valgrind to count instructions with")
assert "too_many_images" in said, said[-500:]
wrong = [f"{memory} MB of memory"] * (memory >= MAX_MB) + [f"it reads {read:.3f} times the bytes"] * (read > MAX_READ)
wrong += [f"{calls:.1f} calls a MB"] * (calls > MAX_CALLS) + [f"{each} instructions a byte"] * bool(each and each > MAX_INSTRUCTIONS)
wrong += [f"{ratio:.2f} of the speed of wc -l"] * (ratio < LEAST)
sys.exit("; ".join(wrong) or 0)

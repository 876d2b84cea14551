"""A session of 2 GB against `wc -l`: PROGRAM SESSION.

Both read the same file, warm, in turns; the best of each counts. What is compared is the time of the
processor, since a machine that others use makes waiting of the rest. Exit 1 if it is slower than half of
`wc -l`, or takes 200 MB.
"""
import os, subprocess, sys, time

PROGRAM, SESSION = sys.argv[1:]
LEAST = float(os.environ.get("PHOTIC_DOCTOR_RATIO", "0.5"))
MOST_MB = 200


def timed(*command):
    """Seconds on the clock, seconds of the processor, MB, and what it said."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, f"{command[0]} ended with {status}"
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024, said


turns = [(timed("wc", "-l", SESSION), timed(PROGRAM, SESSION, "claude-sonnet-4-5")) for _ in range(4)]
(wc_clock, wc), (clock, ours) = ([min(turn[who][what] for turn in turns) for what in (0, 1)] for who in (0, 1))
memory, said = max(turn[1][2] for turn in turns), turns[0][1][3]
size = os.path.getsize(SESSION)
speed = lambda seconds: f"{size / seconds / 1e9:.2f} GB/s"
print(f"{size >> 20} MB in {memory} MB of memory: {speed(ours)} of processor time ({speed(clock)} on the clock), "
      f"wc -l {speed(wc)} ({speed(wc_clock)}): {wc / ours:.2f} of its speed, {wc_clock / clock:.2f} on the clock")
assert "too_many_images" in said, said[-500:]
assert memory < MOST_MB, f"{memory} MB"
sys.exit(wc / ours < LEAST and wc_clock / clock < LEAST)

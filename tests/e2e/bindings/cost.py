"""What the Python package costs beside the Rust call in the same process: import, time, memory, threads. RUST-TIMES.

Judges memory and the number of copies. Times are printed beside the claim: `repair` of 12 MB at most 1.15 times the
Rust call, four threads on two cores twice as fast, import in 30 ms. RUST-TIMES is what the example `times` of
bindings/calls printed of the body that this script writes (`cost.py BODY --write`).
"""
import base64, ctypes, json, os, pathlib, random, re, statistics, struct, subprocess, sys, threading, time, zlib


def png(picks):
    """A picture of noise, 500 by 500, as PNG without compression: 750 KB."""
    rows = b"".join(b"\0" + picks.randbytes(1500) for _ in range(500))
    chunks = (b"IHDR", struct.pack(">IIBBBBB", 500, 500, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b"")
    written = (struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)


def body():
    """A conversation of 12 MB with a dozen pictures as text, which all have to be moved."""
    picks = random.Random(12)
    messages = [{"role": "user", "content": "Look at the pages."}]
    for n in range(12):
        function = {"name": "shot", "arguments": json.dumps({"n": n})}
        messages.append({"role": "assistant", "tool_calls": [{"id": f"call_{n}", "type": "function", "function": function}]})
        picture = base64.b64encode(png(picks)).decode()
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": json.dumps({"screenshot": picture})})
    return json.dumps({"model": "gpt-5.4", "messages": messages}).encode()


if sys.argv[2:] == ["--write"]:
    pathlib.Path(sys.argv[1]).write_bytes(body())
    sys.exit()

import photic

PIXELS = photic.Policy(pixels=False)
whole = body()
assert 11_500_000 < len(whole) < 12_800_000, len(whole)


def repaired():
    return photic.repair(whole, wire="openai-chat", policy=PIXELS)


def seconds(call):
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


done = repaired()
assert done.is_changed and len(done.fixes) >= 12, done
ours = min(seconds(repaired) for _ in range(9))
rust = float(pathlib.Path(sys.argv[1]).read_text())
print(f"repair of {len(whole) / 1e6:.1f} MB: {ours * 1000:.1f} ms, the Rust call {rust * 1000:.1f} ms: {ours / rust:.2f} times (claim: 1.15; printed, not judged)")

one = statistics.median(seconds(lambda: [repaired() for _ in range(4)]) for _ in range(3))


def four():
    threads = [threading.Thread(target=repaired) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()


at_once = statistics.median(seconds(four) for _ in range(3))
print(f"four calls: {one * 1000:.0f} ms one after another, {at_once * 1000:.0f} ms in four threads on {os.cpu_count()} processors: {one / at_once:.2f} times as fast (claim: 2 on two; printed, not judged)")

CODE = "import time; t = time.perf_counter(); import photic; print(time.perf_counter() - t)"
times = [float(subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout) for _ in range(5)]
print(f"import photic: {min(times) * 1000:.0f} ms, the best of five (claim: 30; printed, not judged)")
# What takes long to import is not imported.
slow = subprocess.run([sys.executable, "-c", "import sys, photic; print(*sorted({'dataclasses', 'inspect', 'asyncio', 'anyio', 'httpx', 'typing_extensions'} & sys.modules.keys()))"],
                      capture_output=True, text=True, check=True).stdout.split()
assert not slow, f"`import photic` imports {slow}"


def peak():
    """The most memory that this process ever held, in bytes."""
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path("/proc/self/status").read_text())[1]) << 10


def grown(call):
    ctypes.CDLL(None).malloc_trim(0)  # memory that earlier calls freed would hide a copy
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    result = call()
    return peak() - before, result


if pathlib.Path("/proc/self/clear_refs").exists():
    del done
    most, result = grown(repaired)
    # The body that goes out, once; not the one that came in, and no second copy.
    assert most < 1.5 * len(result.body), f"{most >> 20} MB more for a body of {len(result.body) >> 20} MB"
    print(f"memory: {most / 1e6:.1f} MB more for a body of {len(result.body) / 1e6:.1f} MB that is written anew")
    large = b'{"model":"gpt-4o","messages":[{"role":"user","content":"' + b"x" * (64 << 20) + b'"}]}'
    for given in (large, bytearray(large), memoryview(large)):
        most, result = grown(lambda: photic.check(given))
        assert most < len(large) // 4, f"{type(given).__name__}: {most >> 20} MB more for a body of 64 MB"
    assert photic.repair(large).body is large, "a body that does not change is not copied"
    print(f"memory: a body of 64 MB is read in place: {most >> 20} MB more")

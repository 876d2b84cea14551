"""The Python package writes the bytes of the command: PHOTIC, FOLDER of expected.json. And on broken bodies it does not crash."""
import json, os, pathlib, random, subprocess, sys, threading, time, tomllib

import photic

from bodies import TESTS, WIRES, bodies

photic_program = sys.argv[1]
expected = json.loads((pathlib.Path(sys.argv[2]) / "expected.json").read_text())
MUTATED = int(os.environ.get("PHOTIC_MUTATED", 2000))


def forms(body, number):
    """The body as each type that is taken, in turn."""
    return (body, bytearray(body), memoryview(body), memoryview(b"x" + body)[1:])[number % 4]


def is_json(body):
    try:
        json.loads(body.decode("utf-8", "surrogateescape"), strict=False)
    except ValueError:
        return False
    return True


def lowered(number, one):
    body = pathlib.Path(one["body"]).read_bytes()
    given = forms(body, number)
    try:
        done = photic.lower(given, to=one["to"])
    except photic.PhoticError as error:
        assert error.hint and error.code, error
        return None
    assert done.is_changed == (done.body != body), one
    if isinstance(given, bytes) and not done.is_changed:
        assert done.body is given, "an unchanged body is not copied"
    return done.body


wrong = []
for number, one in enumerate(expected):
    made = lowered(number, one)
    right = pathlib.Path(one["out"]).read_bytes() if one["out"] else None
    if made != right:
        wrong.append(f"{one['body']} to {one['to']}")
assert not wrong, f"{len(wrong)} of {len(expected)} differ from the command: {wrong[:10]}"
print(f"python: {len(expected)} bodies are those of the command")

# The reports say what the command's `--json` says, in the same words. Only the body has a member of its own.
said = 0
for path in bodies()[::9]:
    body = path.read_bytes()
    for command, call in (("check", photic.check), ("explain", photic.explain), ("lower", photic.lower)):
        ran = subprocess.run([photic_program, command, "--json", path], capture_output=True)
        try:
            report = call(body).data
        except photic.PhoticError:
            continue
        if ran.returncode > 1 or photic.lower(body).data.get("decisions") is None:
            continue  # it is a reply
        right = json.loads(ran.stdout)
        right.pop("body", None)
        assert {name: report.get(name) for name in right} == right, f"{command} {path}"
        said += 1
assert said > 100, said
picture = sorted((TESTS.parents[2] / "examples").glob("*.png"))[0]
right = json.loads(subprocess.run([photic_program, "view", "--json", picture], capture_output=True, check=True).stdout)
assert photic.view(picture).data == right, (photic.view(picture).data, right)
print(f"python: {said} reports are those of the command")

# The golden outputs of the library, with the profile that each case names.
compared = 0
for folder in sorted(path for path in (TESTS / "wires").iterdir() if (path / "in.json").exists()):
    case = tomllib.loads((folder / "case.toml").read_text())
    if "profile" in case and "placement_image" not in case["profile"]:
        continue
    body = (folder / "in.json").read_bytes()
    for wire in WIRES:
        profile = photic.Profile.of(wire, case.get("model"), case.get("host"))
        if "profile" in case:
            profile = profile.changed("placement", image=case["profile"]["placement_image"])
            if "consecutive_user" in case["profile"]:
                profile = profile.changed("quirks", consecutive_user=case["profile"]["consecutive_user"])
        if set(case.get("profile", {})) - {"placement_image", "consecutive_user"}:
            continue
        out = folder / f"out.{wire}.json"
        right = out.read_bytes() if out.exists() else body
        try:
            made = photic.lower(body, to=wire, wire=case["wire"], profile=profile, policy=photic.Policy(pixels=False))
        except photic.PhoticError:
            continue  # it is no JSON, or a reply
        if case.get("model") is None or case["wire"] == wire:
            assert made.body == right, f"{folder.name} to {wire}"
            compared += 1
assert compared > 1000, compared
print(f"python: {compared} golden outputs of the library are the same")

# Mutations: always the same ones. PHOTIC_MUTATED=10000 makes more.
picks, pool = random.Random(28), [path.read_bytes() for path in bodies()]
pool = [body for body in pool if len(body) < 200_000]
raised = 0
for _ in range(MUTATED):
    body = bytearray(picks.choice(pool))
    for _ in range(picks.randint(1, 8)):
        at = picks.randrange(len(body) + 1)
        match picks.randrange(4):
            case 0: body[at:at] = picks.choice([b'"', b"{", b"]", b",", b"null", b"\\ud800", b"\xff", b"data:image/png;base64,"])
            case 1: del body[at:at + picks.randint(1, 40)]
            case 2: body[at:at + 1] = bytes([picks.randrange(256)])
            case 3: body[at:at] = body[max(0, at - picks.randint(1, 200)):at]
    repaired = photic.repair(body)
    assert isinstance(repaired.body, bytes) and repaired.findings is not None
    if repaired.is_changed and is_json(body):
        assert is_json(repaired.body), bytes(body)
    for call in (photic.check, photic.explain, lambda body: photic.lower(body, to=picks.choice(WIRES))):
        try:
            assert call(body).data is not None
        except photic.PhoticError:
            raised += 1
    body.append(0)  # nothing holds the memory any more
print(f"python: {MUTATED} mutated bodies, {raised} calls refused with a reason")

# Threads: the same results, and a thread that counts goes on meanwhile.
large = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "x" * 100}] * 20_000}).encode()
right, results, counted, stop = photic.repair(large).body, [], [0], threading.Event()


def count():
    while not stop.is_set():
        counted[0] += 1


counter = threading.Thread(target=count)
counter.start()
workers = [threading.Thread(target=lambda: results.append(photic.repair(large).body == right)) for _ in range(4)]
before, began = counted[0], time.perf_counter()
for worker in workers: worker.start()
for worker in workers: worker.join()
took, made = time.perf_counter() - began, counted[0] - before
stop.set()
counter.join()
assert results == [True] * 4
print(f"python: 4 threads with {len(large) >> 10} KB each in {took * 1000:.0f} ms, {made} counts of another meanwhile (printed, not judged)")

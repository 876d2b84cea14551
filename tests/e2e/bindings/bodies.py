"""The golden bodies, and what `photic lower` writes of them: PHOTIC FOLDER.

Writes FOLDER/expected.json: for each body and wire the file that the command wrote, or null if it refused.
"""
import concurrent.futures, json, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
TESTS = ROOT / "crates/photic/tests"
WIRES = ["anthropic", "bedrock-converse", "gemini", "ollama", "openai-chat", "openai-responses"]


def bodies():
    """Every request, reply, capture and stored conversation that the tests of the library read."""
    found = [path for name in ("in.json", "reply.json") for path in sorted((TESTS / "wires").glob(f"*/{name}"))]
    for folder in ("cases", "captured", "dumps", "rich"):
        found += [path for path in sorted((TESTS / folder).glob("*.json"))]
    return found


def asked():
    """Each body on its own wire, and on one other: which one goes round."""
    for index, path in enumerate(bodies()):
        yield path, None
        yield path, WIRES[index % len(WIRES)]


def main(photic, folder):
    folder.mkdir(parents=True, exist_ok=True)

    def lowered(number, path, to):
        command = [photic, "lower", path, *(["--to", to] if to else [])]
        ran = subprocess.run(command, capture_output=True)
        if ran.returncode:
            return {"body": str(path), "to": to, "out": None}
        out = folder / f"{number}.out"
        out.write_bytes(ran.stdout)
        return {"body": str(path), "to": to, "out": str(out)}

    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        done = list(threads.map(lambda one: lowered(one[0], *one[1]), enumerate(asked())))
    written = sum(one["out"] is not None for one in done)
    assert written > 900, f"the command wrote only {written} bodies"
    (folder / "expected.json").write_text(json.dumps(done))
    print(f"the command wrote {written} bodies and refused {len(done) - written}")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))

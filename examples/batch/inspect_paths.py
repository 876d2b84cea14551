"""The same question about many pictures, for frameworks that bring them in partitions.

`inspect_paths` runs `photic inspect --batch -` over one partition. Partitions share the record (a
directory, or the database that `[fleet]` in photic.toml names), so whatever a framework runs twice is
asked once. Used by docs/batch.md with Daft and Ray Data; it needs neither.
"""

import json
import os
import subprocess


def inspect_paths(paths, question, *, model, record=None, fleet=None, more=()):
    """A list of dictionaries, one for each path, in order: `answer`, or `refused`, or `failed`."""
    paths = list(paths)
    if not paths:
        return []
    where = ["--fleet", fleet] if fleet else ["--record", record] if record else []
    command = [os.environ.get("PHOTIC", "photic"), "inspect", "--batch", "-"]
    command += ["--question", question, "--model", model, *where, *more]
    lines = "".join(json.dumps({"image": path}) + "\n" for path in paths)
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    # 1 says that some pictures have no answer; which, their lines say.
    if done.returncode not in (0, 1) or done.stdout.count("\n") != len(paths):
        raise RuntimeError(done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]

"""Writes a session of a given size in MB, as Claude Code would: screenshots, each of them twice."""
import base64, json, os, pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import pictures  # noqa: E402

path, megabytes = sys.argv[1], int(sys.argv[2])
head = pictures.SIGNATURE + pictures.header(1280, 800)
noise = os.urandom(1 << 20)
with open(path, "wb") as out:
    number = 0
    while out.tell() < megabytes << 20:
        # Pixels that are not decoded: what counts here is how much there is to read.
        start = number * 4099 % (1 << 19)
        picture = head + pictures.chunk(b"IDAT", noise[start:start + 220_000]) + pictures.END
        data = base64.b64encode(picture).decode()
        block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": [block]}
        lines = [
            {"type": "assistant", "uuid": f"a{number}", "parentUuid": None, "sessionId": "s", "isSidechain": False,
             "message": {"role": "assistant", "model": "claude-sonnet-4-5",
                         "content": [{"type": "tool_use", "id": f"toolu_{number}", "name": "Read", "input": {}}]}},
            {"type": "user", "uuid": f"u{number}", "parentUuid": f"a{number}", "sessionId": "s", "isSidechain": False,
             "message": {"role": "user", "content": [result]},
             "toolUseResult": {"type": "image", "file": {"base64": data, "type": "image/png", "originalSize": len(picture)}}},
        ]
        for line in lines:
            out.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        number += 1

"""Writes a session of a given size in MB, as Claude Code would: screenshots, each of them twice."""
import base64, json, os, struct, sys, zlib

path, megabytes = sys.argv[1], int(sys.argv[2])
chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1280, 800, 8, 2, 0, 0, 0))
noise = os.urandom(1 << 20)
with open(path, "wb") as out:
    number = 0
    while out.tell() < megabytes << 20:
        # Pixels that nobody decodes: what counts here is how much there is to read.
        start = number * 4099 % (1 << 19)
        picture = head + chunk(b"IDAT", noise[start:start + 220_000]) + chunk(b"IEND", b"")
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

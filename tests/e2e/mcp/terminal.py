"""`photic mcp` with a terminal as standard input: PHOTIC FOLDER. It says what it is, and serves all the same."""
import json, os, pty, subprocess, sys

photic, folder = sys.argv[1:]
ours, theirs = pty.openpty()
server = subprocess.Popen([photic, "mcp", "--root", folder], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
os.close(theirs)


def line(stream, contains):
    for text in iter(stream.readline, ""):
        if contains in text:
            return text
    sys.exit(f"terminal: nothing says {contains!r}")


try:
    line(server.stderr, "MCP server")
    command = line(server.stderr, "claude mcp add photic -- ")
    assert photic in command and folder in command, command
    line(server.stderr, '"mcpServers"')
    line(server.stderr, "--print")
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "terminal", "version": "1"}}
    os.write(ours, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode() + b"\n")
    # Standard output carries the protocol alone.
    answer = json.loads(server.stdout.readline())
    assert answer["result"]["serverInfo"]["name"] == "photic", answer
finally:
    server.kill()
    server.wait()
print("terminal: said what it is, and went on")

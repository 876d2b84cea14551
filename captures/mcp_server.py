#!/usr/bin/env python3
"""A minimal MCP server over stdio, one tool `look`, for clients that speak MCP.

Its only argument is a JSON list: the result of `look` for n = 1, 2, ...
"""
import json, sys

RESULTS = json.loads(sys.argv[1])
LOOK = {
    "name": "look",
    "description": "Look through camera n.",
    "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue  # a notification
    params = message.get("params", {})
    if message["method"] == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "camera", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [LOOK]}
    elif message["method"] == "tools/call":
        result = RESULTS[params["arguments"]["n"] - 1]
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)

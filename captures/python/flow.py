"""Shared by the Python clients: runs the captures handed over as JSON on stdin."""
import json, sys

PROMPT = "What do the cameras show?"
NAME, DESCRIPTION = "look", "Look through camera n."
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def run(apis):
    for capture in json.load(sys.stdin):
        try:
            apis[capture["api"]](capture)
        except Exception:
            print(capture["name"], "failed", file=sys.stderr)
            raise


def as_mcp(parts, error):
    """A result as an MCP server gives it."""
    content = []
    for p in parts:
        if "text" in p:
            content.append({"type": "text", "text": p["text"]})
        else:
            content.append({"type": "image", "data": p["data"], "mimeType": p["mediaType"]})
    return {"content": content, "isError": error}


def data_url(p):
    return p.get("url") or f"data:{p['mediaType']};base64,{p['data']}"

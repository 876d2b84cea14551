"""Requests with pictures on every wire, with something of the caller's choice anywhere in them, and a provider that
refuses by model.
"""
import base64, json, threading

import harness
from harness import Upstream, data_url, png

RED, WIDE, SMALL = png(64, 64), png(3000, 40, (1, 2, 200)), png(70, 70, (9, 9, 9))


def of_wire(wire, model, poison="", where="text", pictures=(RED, SMALL)):
    """A request with pictures, and its path; with a poison somewhere."""
    put = {name: "" for name in ("text", "detail", "tool", "about", "user", "file", "stop", "id", "title")}
    put[where] = poison
    text = "what is this? " + put["text"]
    extra = {poison: True} if where == "field" else {}
    if where == "metadata":
        extra["metadata"] = {"note": poison}
    if where == "user":
        extra["user"] = poison
    if where == "stop":
        extra["stop"] = [poison]
    name = put["tool"] or "look"
    tools = where in ("tool", "about")
    encoded = [base64.b64encode(picture).decode() for picture in pictures]
    if wire == "chat":
        parts = [{"type": "text", "text": text}]
        for picture in pictures:
            image = {"url": data_url(picture)}
            if where == "detail":
                image["detail"] = poison
            parts.append({"type": "image_url", "image_url": image})
        messages = [{"role": "user", "content": parts}]
        if where == "id":
            messages[:0] = [
                {"role": "assistant", "content": None, "tool_calls": [
                    {"id": poison, "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": poison, "content": "done"}]
        if where == "file":
            parts.append({"type": "file", "file": {"filename": poison, "file_data": "data:application/pdf;base64,JVBERi0="}})
        if tools:
            extra["tools"] = [{"type": "function", "function": {
                "name": name, "description": put["about"], "parameters": {"type": "object"}}}]
        return "/v1/chat/completions", {"model": model, "messages": messages, **extra}
    if wire == "responses":
        parts = [{"type": "input_text", "text": text}]
        parts += [{"type": "input_image", "image_url": data_url(one), **({"detail": poison} if where == "detail" else {})}
                  for one in pictures]
        if tools:
            extra["tools"] = [{"type": "function", "name": name, "description": put["about"],
                               "parameters": {"type": "object"}}]
        return "/v1/responses", {"model": model, "input": [{"role": "user", "content": parts}], **extra}
    if wire == "anthropic":
        parts = [{"type": "text", "text": text}]
        parts += [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": one}} for one in encoded]
        if where == "title":
            parts.append({"type": "document", "title": poison, "source": {
                "type": "text", "media_type": "text/plain", "data": "x"}})
        if tools:
            extra["tools"] = [{"name": name, "description": put["about"], "input_schema": {"type": "object"}}]
        return "/v1/messages", {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": parts}], **extra}
    if wire == "gemini":
        parts = [{"text": text}] + [{"inlineData": {"mimeType": "image/png", "data": one}} for one in encoded]
        if tools:
            extra["tools"] = [{"functionDeclarations": [{"name": name, "description": put["about"]}]}]
        return f"/v1beta/models/{model}:generateContent", {"contents": [{"role": "user", "parts": parts}], **extra}
    if wire == "ollama":
        message = {"role": "user", "content": text, "images": encoded}
        return "/api/chat", {"model": model, "stream": False, "messages": [message], **extra}
    raise ValueError(wire)


REPLIES = {
    "/v1/chat/completions": harness.CHAT_REPLY, "/v1/messages": harness.MESSAGES_REPLY,
    "/v1/responses": {"id": "r", "object": "response", "status": "completed", "model": "m", "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "seen"}]}],
        "usage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}},
    "/api/chat": {"model": "m", "message": {"role": "assistant", "content": "seen"}, "done": True,
                  "prompt_eval_count": 9, "eval_count": 1},
}


class Provider(Upstream):
    """Refuses by model: `rules[model](request)` gives an answer, or nothing, and then it succeeds."""

    def __init__(self):
        self.rules, self.seen, self.lock = {}, {}, threading.Lock()
        super().__init__(self.answer_by_model)

    def model_of(self, request):
        path = request.path.split("?")[0]
        if path.startswith("/v1beta/models/"):
            return path.removeprefix("/v1beta/models/").split(":")[0]
        try:
            return json.loads(request.body).get("model")
        except ValueError:
            return None

    def answer_by_model(self, request):
        model, path = self.model_of(request), request.path.split("?")[0]
        with self.lock:
            self.seen.setdefault(model, []).append(request)
        answer = self.rules.get(model, lambda _: None)(request)
        usual = {"candidates": [{"content": {"role": "model", "parts": [{"text": "seen"}]}, "finishReason": "STOP"}],
                 "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1}}
        return answer or (200, {}, REPLIES.get(path, usual))


def key_of(request):
    """Whose request it is, at the upstream."""
    headers = request.headers
    return headers.get("authorization") or headers.get("x-api-key") or headers.get("x-goog-api-key") or ""


def pictures(request):
    """All pictures of a request as they were sent, whatever the wire."""
    found = []

    def walk(value):
        if isinstance(value, dict):
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)
        elif isinstance(value, str) and ("iVBOR" in value or "/9j/" in value or "UklGR" in value):
            found.append(value)
    walk(json.loads(request.body))
    return found

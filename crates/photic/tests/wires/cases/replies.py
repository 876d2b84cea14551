"""Replies, not streamed, of each wire: what a gateway has to translate back to the client's wire."""
from .turns import *

C, R, A = "openai-chat", "openai-responses", "anthropic"


def reply(name, wire, title, body, keeps=(), note=None, **more):
    case(name, wire, title, body, sees=[], keeps=keeps, note=note, reply=True, **more)


def chat_reply(message, finish="stop", usage=None, **more):
    usage = usage or {"prompt_tokens": 1284, "completion_tokens": 21, "total_tokens": 1305}
    return {"id": "chatcmpl-CB1x", "object": "chat.completion", "created": 1789200000, "model": "gpt-4o-2024-08-06",
            "choices": [{"index": 0, "message": {"role": "assistant"} | message, "logprobs": None, "finish_reason": finish}],
            "usage": usage, "service_tier": "default", "system_fingerprint": "fp_1"} | more


def responses_reply(*output, status="completed", usage=None, **more):
    usage = usage or {"input_tokens": 1284, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 21,
                      "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 1305}
    return {"id": "resp_68f1", "object": "response", "created_at": 1789200000, "status": status, "error": None, "incomplete_details": None,
            "instructions": None, "model": "gpt-5.4-2026-03-01", "output": list(output), "parallel_tool_calls": True, "usage": usage} | more


def anthropic_reply(*content, stop="end_turn", usage=None, **more):
    usage = usage or {"input_tokens": 1284, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 21}
    return {"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
            "content": [text(c) if isinstance(c, str) else c for c in content], "stop_reason": stop, "stop_sequence": None, "usage": usage} | more


# --- openai-chat ------------------------------------------------------------------------------------------

reply("reply-chat-text", C, "text", chat_reply({"content": "The banner is red 😀.\nNothing else.", "refusal": None, "annotations": []}),
      ["The banner is red 😀."], style="pretty")
reply("reply-chat-call", C, "one tool call, content null",
      chat_reply({"content": None, "tool_calls": [call("call_1", "screenshot", full_page=False)], "refusal": None}, "tool_calls"))
reply("reply-chat-parallel", C, "text and two parallel calls, one with empty arguments",
      chat_reply({"content": "I look at both.", "tool_calls": [call("call_1", "screenshot", full_page=False),
                  {"id": "call_2", "type": "function", "function": {"name": "get_time", "arguments": ""}}]}, "tool_calls"), ["I look at both."])
reply("reply-chat-refusal", C, "a refusal", chat_reply({"content": None, "refusal": "I can't identify people."}), ["I can't identify people."])
reply("reply-chat-length", C, "cut by the token limit inside the arguments of a call, with cache and image figures",
      chat_reply({"content": "Let me", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "shell", "arguments": '{"command":"ls -'}}]}, "length",
                 {"prompt_tokens": 5120, "completion_tokens": 64, "total_tokens": 5184, "prompt_tokens_details":
                  {"cached_tokens": 4096, "cache_write_tokens": 512, "image_tokens": 765, "text_tokens": 4355, "audio_tokens": 0},
                  "completion_tokens_details": {"reasoning_tokens": 32, "accepted_prediction_tokens": 0}}), ["Let me"])
reply("reply-chat-unknown", C, "reasoning_content, no usage, filter results and fields nobody knows",
      chat_reply({"content": "Red.", "reasoning_content": "The banner is red.", "x_extra": {"n": "@@n@@"}},
                 prompt_filter_results=[{"prompt_index": 0}], x_provider="together", provider="Azure")
      | {"usage": None}, ["Red."], post=lambda s: s.replace('"@@n@@"', "1e400"))
reply("reply-chat-filter", C, "stopped by the content filter", chat_reply({"content": "It shows"}, "content_filter"), ["It shows"])

# --- openai-responses ---------------------------------------------------------------------------------------

reply("reply-responses-text", R, "text", responses_reply(rasst("The banner is red.")), ["The banner is red."], style="pretty")
reply("reply-responses-calls", R, "reasoning with encrypted content, then two parallel calls",
      responses_reply({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I need both."}], "encrypted_content": "gAAAAABo" + "Qx9_-" * 20},
                      rcall("call_1", "screenshot", full_page=False) | {"id": "fc_1", "status": "completed"},
                      rcall("call_2", "shell", command="uptime") | {"id": "fc_2", "status": "completed"}))
reply("reply-responses-refusal", R, "a refusal part",
      responses_reply({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "refusal", "refusal": "I can't help with that."}]}),
      ["I can't help with that."])
reply("reply-responses-incomplete", R, "cut by max_output_tokens, with cache figures",
      responses_reply(rasst("The banner is") | {"status": "incomplete"}, status="incomplete", incomplete_details={"reason": "max_output_tokens"},
                      usage={"input_tokens": 5120, "input_tokens_details": {"cached_tokens": 4096, "cache_write_tokens": 512, "cache_write_tokens_details":
                             {"ttl_30m_tokens": 512, "ttl_12h_tokens": 0}}, "output_tokens": 64, "output_tokens_details": {"reasoning_tokens": 60}, "total_tokens": 5184}),
      ["The banner is"])
reply("reply-responses-server-tools", R, "web search, a generated image, a custom tool call and an unknown item",
      responses_reply({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
                      {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": b64("red.png")},
                      {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "python", "input": "print(1)"},
                      {"type": "x_note", "id": "x_1", "body": [1, 2]}, rasst("Done."), x_lane="fast"), ["Done."],
      note="sees is about requests; the generated image must not become text on another wire")
reply("reply-responses-computer", R, "a computer call with an action and a safety check",
      responses_reply({"type": "computer_call", "id": "cu_1", "call_id": "call_1", "status": "completed", "action": {"type": "click", "button": "left", "x": 12, "y": 34},
                       "pending_safety_checks": [{"id": "sc_1", "code": "malicious_instructions", "message": "Look twice."}]}))
reply("reply-responses-failed", R, "a failed response: an error object in a 200 body",
      responses_reply(status="failed", error={"code": "server_error", "message": "The model produced invalid content."}))

# --- anthropic ------------------------------------------------------------------------------------------------

reply("reply-anthropic-text", A, "text in two blocks, one with citations",
      anthropic_reply("The banner ", text("is red.") | {"citations": [{"type": "char_location", "cited_text": "red", "document_index": 0, "document_title": None, "start_char_index": 0, "end_char_index": 3}]}),
      ["is red."], style="pretty")
reply("reply-anthropic-calls", A, "thinking, redacted thinking, text and two parallel calls, one without input",
      anthropic_reply({"type": "thinking", "thinking": "Both are needed.", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3h/+w=="}, {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix"},
                      "I look.", use("toolu_1", "screenshot", full_page=False), use("toolu_2", "get_time"), stop="tool_use"), ["I look."])
reply("reply-anthropic-refusal", A, "stop_reason refusal", anthropic_reply("I can't help with that.", stop="refusal"), ["I can't help with that."])
reply("reply-anthropic-length", A, "cut by max_tokens, with cache writes of both lifetimes",
      anthropic_reply("The banner is", stop="max_tokens", usage={"input_tokens": 12, "cache_creation_input_tokens": 512, "cache_read_input_tokens": 4096,
                      "cache_creation": {"ephemeral_5m_input_tokens": 128, "ephemeral_1h_input_tokens": 384}, "output_tokens": 64, "service_tier": "standard"}), ["The banner is"])
reply("reply-anthropic-server-tools", A, "server tool use with its result, pause_turn, and fields nobody knows",
      anthropic_reply("I search.", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
                      {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "https://example.org", "title": "T", "encrypted_content": "Eqgf"}]},
                      {"type": "x_block", "y": "@@n@@"}, stop="pause_turn", container={"id": "cnt_1", "expires_at": "2026-11-12T00:00:00Z"}, x_trace=None),
      ["I search."], post=lambda s: s.replace('"@@n@@"', "12345678901234567890"))
reply("reply-anthropic-stop-sequence", A, "stopped by a stop sequence, no content", anthropic_reply(stop="stop_sequence", stop_sequence="</answer>"))

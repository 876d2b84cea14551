//! The tools of Codex on other wires: groups of tools, tools that take free text, and tools in the
//! input. Calls of them come back to the client as it declared them.

use photic::{Did, Policy, Profile, Stream, Wire};
use serde_json::{Value, json};

/// A request as Codex sends it: its tools are an item of the input.
fn request() -> Value {
    json!({"model": "gpt-6.1-sol", "input": [
        {"type": "additional_tools", "role": "developer", "tools": [
            {"type": "namespace", "name": "functions", "description": "of the client", "tools": [
                {"type": "custom", "name": "exec", "description": "runs code",
                 "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}},
                {"type": "function", "name": "wait", "description": "waits", "strict": false,
                 "parameters": {"type": "object", "properties": {"seconds": {"type": "number"}}}}]},
            {"type": "function", "name": "functions__wait", "description": "another",
             "parameters": {"type": "object", "properties": {}}}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
        {"type": "custom_tool_call", "call_id": "call_1", "namespace": "functions", "name": "exec",
         "input": "view(\"a.png\")\n"},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "seen"},
        // Some services leave the group out if only one tool has the name.
        {"type": "custom_tool_call", "call_id": "call_2", "name": "exec", "input": "again"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": "seen again"},
        {"type": "function_call", "call_id": "call_3", "namespace": "functions", "name": "wait",
         "arguments": "{\"seconds\":1}"},
        {"type": "function_call_output", "call_id": "call_3", "output": "waited"}]})
}

/// The tools and the calls of a body: every string that names one, in order.
fn names(wire: Wire, body: &[u8]) -> (Vec<String>, Vec<String>) {
    let body: Value = serde_json::from_slice(body).unwrap();
    let all = |paths: &[&str], value: &Value| -> Vec<String> {
        paths.iter().filter_map(|path| value.pointer(path)?.as_str().map(str::to_owned)).collect()
    };
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let tools = match wire {
        Wire::Gemini => items(&body["tools"][0]["functionDeclarations"]),
        Wire::BedrockConverse => items(&body["toolConfig"]["tools"]),
        _ => items(&body["tools"]),
    };
    let offered =
        tools.iter().flat_map(|tool| all(&["/name", "/function/name", "/toolSpec/name"], tool));
    let messages = match wire {
        Wire::Gemini => items(&body["contents"]),
        _ => items(&body["messages"]),
    };
    let parts = messages.iter().flat_map(|message| {
        [&message["content"], &message["parts"], &message["tool_calls"]].into_iter().flat_map(items)
    });
    let called = parts.flat_map(|part| {
        let part = part.clone();
        if part["type"] == "tool_use" {
            return all(&["/name"], &part);
        }
        all(&["/function/name", "/functionCall/name", "/toolUse/name"], &part)
    });
    (offered.collect(), called.collect())
}

#[test]
fn tools_in_the_input_in_groups_and_with_free_text_reach_every_wire() {
    let body = serde_json::to_vec(&request()).unwrap();
    for to in Wire::ALL.into_iter().filter(|to| *to != Wire::OpenAiResponses) {
        let (transcript, _) = photic::lift(Wire::OpenAiResponses, &body);
        let profile = Profile::generic(to);
        let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
        let lowered = photic::lower(&transcript, &plan);
        let sent = lowered.body.to_vec();
        let (offered, called) = names(to, &sent);
        assert_eq!(offered.len(), 3, "{to}: {offered:?}");
        let [exec, wait, plain] = offered.as_slice() else { unreachable!() };
        assert_eq!((exec.as_str(), plain.as_str()), ("functions__exec", "functions__wait"), "{to}");
        assert!(wait.starts_with("functions__wait_"), "{to}: {wait}");
        assert_eq!(called, [exec.clone(), exec.clone(), wait.clone()], "{to}");
        let text = String::from_utf8(sent).unwrap();
        assert!(text.contains("start: /.+/") && text.contains("of this grammar (lark)"), "{text}");
        let whole = lowered.decisions.iter().find(|one| matches!(one.did, Did::LeftOutPart(_)));
        assert!(whole.is_none(), "{to}: {whole:?}");
    }
}

#[test]
fn calls_come_back_as_the_client_declared_their_tools() {
    let body = serde_json::to_vec(&request()).unwrap();
    let (transcript, _) = photic::lift(Wire::OpenAiResponses, &body);
    let profile = Profile::generic(Wire::Anthropic);
    let tools = photic::renamed_tools(&transcript, &profile);
    assert_eq!(tools.iter().filter(|tool| tool.free_text).count(), 1);
    let wait = tools.iter().find(|tool| tool.name == "wait").unwrap().sent.clone();
    let reply = json!({"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [
        {"type": "tool_use", "id": "t1", "name": "functions__exec", "input": {"input": "a \"b\"\n"}},
        {"type": "tool_use", "id": "t2", "name": wait, "input": {"seconds": 2}},
        {"type": "tool_use", "id": "t3", "name": "functions__wait", "input": {}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let bytes = serde_json::to_vec(&reply).unwrap();
    let mut lifted = photic::lift_reply(Wire::Anthropic, &bytes);
    lifted.rename_calls(&tools);
    let whole = photic::lower_reply(&lifted, Wire::OpenAiResponses).to_vec();
    let whole: Value = serde_json::from_slice(&whole).unwrap();
    let expected = json!([
        {"type": "custom_tool_call", "id": "ctc_t1", "status": "completed", "call_id": "t1",
         "name": "exec", "namespace": "functions", "input": "a \"b\"\n"},
        {"type": "function_call", "id": "fc_t2", "status": "completed", "call_id": "t2",
         "name": "wait", "namespace": "functions", "arguments": "{\"seconds\":2}"},
        {"type": "function_call", "id": "fc_t3", "status": "completed", "call_id": "t3",
         "name": "functions__wait", "arguments": "{}"}]);
    assert_eq!(whole["output"], expected);
    for (from, streamed) in
        [(Wire::Anthropic, anthropic_stream(&wait)), (Wire::OpenAiChat, chat_stream(&wait))]
    {
        let mut stream = Stream::new(from, Wire::OpenAiResponses).renaming(tools.clone());
        let mut said = Vec::new();
        for byte in streamed.as_bytes() {
            said.extend(stream.feed(&[*byte]));
        }
        said.extend(stream.finish());
        let said = String::from_utf8(said).unwrap();
        let events = events(&said);
        let of =
            |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
        let text: String = of("response.custom_tool_call_input.delta")
            .iter()
            .filter_map(|event| event["delta"].as_str())
            .collect();
        assert_eq!(text, "a \"b\"\n", "{said}");
        assert!(of("response.custom_tool_call_input.delta").len() > 1, "it is passed on in pieces");
        assert_eq!(of("response.custom_tool_call_input.done")[0]["input"], "a \"b\"\n");
        assert_eq!(of("response.completed")[0]["response"]["output"], expected, "{from}: {said}");
    }
}

/// The data of every event of a stream.
fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

/// The reply above as Anthropic streams it.
fn anthropic_stream(wait: &str) -> String {
    let event =
        |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    let mut out =
        event(json!({"type": "message_start", "message": {"id": "m", "model": "c", "usage": {}}}));
    for (index, (id, name, pieces)) in [
        ("t1", "functions__exec", vec!["{\"inp", "ut\": \"a \\", "\"b\\\"", "\\n\"}"]),
        ("t2", wait, vec!["{\"seconds\":2}"]),
        ("t3", "functions__wait", vec!["{}"]),
    ]
    .into_iter()
    .enumerate()
    {
        out += &event(json!({"type": "content_block_start", "index": index,
            "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}}));
        for piece in pieces {
            out += &event(json!({"type": "content_block_delta", "index": index,
                "delta": {"type": "input_json_delta", "partial_json": piece}}));
        }
        out += &event(json!({"type": "content_block_stop", "index": index}));
    }
    out +=
        &event(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}));
    out + &event(json!({"type": "message_stop"}))
}

/// The reply above as Chat Completions streams it.
fn chat_stream(wait: &str) -> String {
    let chunk = |delta: Value| {
        format!(
            "data: {}\n\n",
            json!({"id": "m", "model": "c", "choices": [{"index": 0, "delta": delta}]})
        )
    };
    let call = |index: usize, id: &str, name: &str| {
        chunk(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""}}]}))
    };
    let more = |index: usize, json: &str| {
        chunk(json!({"tool_calls": [{"index": index, "function": {"arguments": json}}]}))
    };
    let stop =
        json!({"id": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    [
        call(0, "t1", "functions__exec"),
        more(0, "{\"input\":\"a"),
        more(0, " \\\"b\\\"\\"),
        more(0, "n\"}"),
        call(1, "t2", wait),
        more(1, "{\"seconds\":2}"),
        call(2, "t3", "functions__wait"),
        more(2, "{}"),
        format!("data: {stop}\n\ndata: [DONE]\n\n"),
    ]
    .concat()
}

/// A client of Chat Completions may declare tools that take free text, too.
#[test]
fn a_call_with_free_text_comes_back_to_a_client_of_chat_completions() {
    let body = br#"{"model":"m","messages":[{"role":"user","content":"go"}],
        "tools":[{"type":"custom","custom":{"name":"py","description":"runs"}}]}"#;
    let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
    let tools = photic::renamed_tools(&transcript, &Profile::generic(Wire::Anthropic));
    let reply = br#"{"id":"m","type":"message","role":"assistant","content":[
        {"type":"tool_use","id":"t","name":"py","input":{"input":"1+1"}}],"stop_reason":"tool_use"}"#;
    let mut lifted = photic::lift_reply(Wire::Anthropic, reply);
    lifted.rename_calls(&tools);
    let whole = photic::lower_reply(&lifted, Wire::OpenAiChat).to_vec();
    let whole: Value = serde_json::from_slice(&whole).unwrap();
    let call = json!([{"id": "t", "type": "custom", "custom": {"name": "py", "input": "1+1"}}]);
    assert_eq!(whole["choices"][0]["message"]["tool_calls"], call);
}

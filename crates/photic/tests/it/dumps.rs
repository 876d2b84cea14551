//! Conversations that the frameworks themselves dumped: each is told apart, every picture of it is
//! counted, and it lowers to every wire. `tests/dumps/out` holds what it lowers to on three of
//! them, with the names of the pictures in the place of their bytes; `PHOTIC_BLESS=1` writes it.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::media::{MediaKind, Source};
use photic::{Did, Dump, Lowered, MediaId, Plan, Policy, Profile, Transcript, Wire};
use serde::Deserialize;
use serde_json::json;

use crate::captured::captures;
use crate::golden::cases;
use crate::harness::{lower, rules, seen};

#[derive(Deserialize)]
struct Index {
    dump: Vec<Group>,
}

/// Dumps of the same conversation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    files: Vec<String>,
    dump: String,
    #[expect(dead_code, reason = "for the reader")]
    by: String,
    images: Vec<String>,
    keeps: Vec<String>,
    #[serde(default)]
    once: Vec<String>,
}

const PICTURES: [&str; 4] = ["bars.png", "disc.png", "page.jpg", "wave.webp"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dumps")
}

fn picture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../captures/images");
    fs::read(folder.join(name)).unwrap()
}

/// The pictures whose bytes a group has.
fn pixels(group: &Group) -> Vec<Vec<u8>> {
    let names = group.images.iter().filter(|name| PICTURES.contains(&name.as_str()));
    names.map(|name| picture(name)).collect()
}

/// Runs a check over every dump and reports all failures at once.
fn each_dump(check: impl Fn(&str, &Group, Dump, &[u8]) -> Result<(), String>) {
    let index: Index =
        toml::from_str(&fs::read_to_string(folder().join("index.toml")).unwrap()).unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for group in &index.dump {
        let dump = Dump::from_name(&group.dump).unwrap();
        for name in &group.files {
            let body = fs::read(folder().join(format!("{name}.json"))).unwrap();
            failures.extend(check(name, group, dump, &body).err());
            count += 1;
        }
    }
    let files = fs::read_dir(folder()).unwrap();
    let files = files.filter(|file| {
        file.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "json")
    });
    assert_eq!(count, files.count(), "the index and the folder differ");
    assert!(failures.is_empty(), "{} of {count}\n\n{}", failures.len(), failures.join("\n\n"));
}

/// What is seen of a dump on a wire, with everything that led to it.
fn on_wire<T>(
    dump: Dump,
    body: &[u8],
    wire: Wire,
    look: impl FnOnce(&Transcript<'_>, &Plan<'_>, &Lowered<'_>) -> T,
) -> T {
    let (transcript, _) = photic::lift_dump(dump, body);
    let profile = Profile::generic(wire);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
    look(&transcript, &plan, &photic::lower(&transcript, &plan))
}

#[test]
fn each_is_told_apart() {
    each_dump(|name, _, dump, body| match photic::detect_dump(body) {
        Some(found) if found == dump => Ok(()),
        found => Err(format!("{name}: {found:?}")),
    });
}

#[test]
fn no_request_of_a_wire_is_taken_for_one() {
    for (name, (_, body)) in cases("in.json") {
        assert_eq!(photic::detect_dump(&body), None, "{name}");
    }
    for (name, (_, body)) in cases("reply.json") {
        assert_eq!(photic::detect_dump(&body), None, "{name}");
    }
    for (capture, body) in captures() {
        assert_eq!(photic::detect_dump(&body), None, "{} {}", capture.client, capture.version);
    }
    for body in ["", "[", "[]", "{}", "[1]", "null", "[[]]", r#"{"messages":[]}"#] {
        assert_eq!(photic::detect_dump(body.as_bytes()), None, "{body}");
    }
}

#[test]
fn every_picture_is_counted() {
    each_dump(|name, group, dump, body| {
        let (transcript, findings) = photic::lift_dump(dump, body);
        let pictures = transcript.media.iter().filter(|media| media.kind == MediaKind::Image);
        let found: Vec<String> = pictures
            .map(|media| match &media.source {
                Source::Data(payload) => PICTURES
                    .iter()
                    .find(|name| picture(name) == payload.decode())
                    .map_or("-".to_owned(), |name| (*name).to_owned()),
                Source::Url(address) => address.decode().into_owned(),
                Source::Text(_) | Source::File(_) | Source::Missing => "-".to_owned(),
            })
            .collect();
        // A result without its call is what a result is; nothing else is wrong with any of them.
        let known = ["orphan_tool_result", "image_as_text"];
        let strange = findings.iter().find(|finding| !known.contains(&finding.code.name()));
        if found == group.images && strange.is_none() {
            return Ok(());
        }
        Err(format!("{name}: {found:?}, not {:?}; {strange:?}", group.images))
    });
}

#[test]
fn every_picture_is_seen_on_every_wire_or_said_not_to_be() {
    each_dump(|name, group, dump, body| {
        for wire in Wire::ALL {
            on_wire(dump, body, wire, |transcript, plan, lowered| {
                let text = lowered.body.to_vec();
                let seen = seen(name, wire, &text, &rules(plan.profile));
                let shown: Vec<_> = seen
                    .images
                    .iter()
                    .filter_map(|image| image.bytes().map(<[u8]>::to_vec))
                    .collect();
                if shown != pixels(group) {
                    return Err(format!("{name} → {wire}: {} pictures", shown.len()));
                }
                for (id, media) in MediaId::first(transcript.media.len()).zip(&transcript.media) {
                    // The words of a document are words.
                    if matches!(media.source, Source::Text(_)) {
                        continue;
                    }
                    let said = |did: &Did| matches!(did, Did::NotShown(_));
                    let lost = !plan.fates[id].is_shown()
                        && !lowered
                            .decisions
                            .iter()
                            .any(|one| one.media == Some(id) && said(&one.did));
                    if lost {
                        return Err(format!("{name} → {wire}: {id} is lost without a word"));
                    }
                }
                let text = String::from_utf8_lossy(&text).into_owned();
                let missing = group.keeps.iter().find(|words| !text.contains(words.as_str()));
                let twice =
                    group.once.iter().find(|words| text.matches(words.as_str()).count() > 1);
                match missing.or(twice) {
                    Some(words) => Err(format!("{name} → {wire}: `{words}`\n{text}")),
                    None => Ok(()),
                }
            })?;
        }
        Ok(())
    });
}

#[test]
fn they_lower_to_what_they_lowered_to_before_and_to_nothing_else_again() {
    each_dump(|name, _, dump, body| {
        for wire in [Wire::OpenAiChat, Wire::Anthropic, Wire::Gemini] {
            let lowered = on_wire(dump, body, wire, |_, _, lowered| lowered.body.to_vec());
            if lower(wire, &lowered, &Profile::generic(wire)).body != lowered {
                return Err(format!("{name} → {wire} is not stable"));
            }
            let mut text = String::from_utf8(lowered).unwrap();
            for name in PICTURES {
                text = text.replace(&STANDARD.encode(picture(name)), &format!("<{name}>"));
            }
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let text = serde_json::to_string_pretty(&value).unwrap() + "\n";
            let path = folder().join(format!("out/{name}.{wire}.json"));
            if std::env::var_os("PHOTIC_BLESS").is_some() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, text).unwrap();
            } else if fs::read_to_string(&path).unwrap_or_default() != text {
                return Err(format!("{name} → {wire}: the output changed\n{text}"));
            }
        }
        Ok(())
    });
}

/// Dumps of the same conversation are the same conversation.
#[test]
fn how_it_was_dumped_makes_no_difference() {
    let chat = |dump, name: &str| {
        let body = fs::read(folder().join(format!("{name}.json"))).unwrap();
        on_wire(dump, &body, Wire::OpenAiChat, |_, _, lowered| lowered.body.to_vec())
    };
    for (dump, one, others) in [
        (
            Dump::LangChain,
            "langchain-py-dict-v0",
            ["langchain-py-dumps-v0", "langchain-py-prompt-v0"],
        ),
        (
            Dump::LangChain,
            "langchain-py-dict-v1",
            ["langchain-py-dumps-v1", "langchain-py-state-v1"],
        ),
        (
            Dump::LangChain,
            "langchain-js-lc-v0",
            ["langchain-js-stored-v0", "langchain-js-prompt-v0"],
        ),
        (Dump::Mcp, "mcp-image", ["mcp-nulls", "mcp-answer"]),
    ] {
        for other in others {
            assert_eq!(chat(dump, one), chat(dump, other), "{one} {other}");
        }
    }
}

/// Whatever stands where a framework would put something else: it is read as far as it can be, and
/// what comes out is JSON.
#[test]
fn no_member_has_to_be_what_it_is() {
    let others = [json!(null), json!({}), json!([]), json!("x"), json!([{"type": "image"}, 7])];
    for (dump, name) in [
        (Dump::AiSdk, "ai5-messages"),
        (Dump::LangChain, "langchain-py-dumps-v1"),
        (Dump::LangChain, "langchain-js-stored-v0"),
        (Dump::PydanticAi, "pydantic-ai-returns"),
        (Dump::Mcp, "mcp-structured-only"),
        (Dump::Openwop, "openwop-documents"),
    ] {
        let body = fs::read(folder().join(format!("{name}.json"))).unwrap();
        let whole: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let mut places = Vec::new();
        let mut open = vec![String::new()];
        while let Some(place) = open.pop() {
            match whole.pointer(&place).unwrap() {
                // Bytes that were spelled out: one is like another.
                serde_json::Value::Object(object) if object.len() > 100 => {}
                serde_json::Value::Object(object) => {
                    open.extend(object.keys().map(|key| format!("{place}/{key}")));
                }
                serde_json::Value::Array(list) => {
                    open.extend((0..list.len()).map(|index| format!("{place}/{index}")));
                }
                _ => {}
            }
            places.push(place);
        }
        for place in places {
            for other in &others {
                let mut changed = whole.clone();
                *changed.pointer_mut(&place).unwrap() = other.clone();
                let changed = changed.to_string();
                let lowered = on_wire(dump, changed.as_bytes(), Wire::Gemini, |_, _, lowered| {
                    lowered.body.to_vec()
                });
                let read = serde_json::from_slice::<serde_json::Value>(&lowered);
                assert!(read.is_ok(), "{name}{place}: {}", String::from_utf8_lossy(&lowered));
            }
        }
    }
}

/// A host that puts a whole result of MCP into a tool message, as most do.
#[test]
fn a_result_of_mcp_inside_a_request_is_read_like_one_alone() {
    each_dump(|name, group, dump, body| {
        if dump != Dump::Mcp || matches!(name, "mcp-prompt" | "mcp-answer") {
            return Ok(());
        }
        let result = String::from_utf8(body.to_vec()).unwrap();
        let call =
            json!({"id": "c", "type": "function", "function": {"name": "shot", "arguments": "{}"}});
        let request = json!({"messages": [
            {"role": "user", "content": "Look!"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": result},
        ]});
        for wire in Wire::ALL {
            let profile = Profile::generic(wire);
            let lowered = lower(Wire::OpenAiChat, request.to_string().as_bytes(), &profile).body;
            let seen = seen(name, wire, &lowered, &rules(&profile));
            let shown: Vec<_> =
                seen.images.iter().filter_map(|image| image.bytes().map(<[u8]>::to_vec)).collect();
            let text = String::from_utf8_lossy(&lowered);
            let missing = group.keeps.iter().find(|words| !text.contains(words.as_str()));
            let twice = group.once.iter().find(|words| text.matches(words.as_str()).count() > 1);
            if shown != pixels(group) || missing.is_some() || twice.is_some() {
                return Err(format!(
                    "{name} → {wire}: {} pictures, {missing:?} {twice:?}\n{text}",
                    shown.len()
                ));
            }
        }
        Ok(())
    });
}

/// Parts of frameworks that stand in the place of a wire's own.
#[test]
fn their_parts_inside_a_request_are_read_too() {
    let data = STANDARD.encode(picture("bars.png"));
    let spelled = data.replace('+', "-").replace('/', "_");
    for part in [
        json!({"type": "image", "source_type": "base64", "data": data, "mime_type": "image/png"}),
        json!({"type": "image", "base64": data, "mime_type": "image/png"}),
        json!({"type": "image", "data": data, "mimeType": "image/png"}),
        json!({"type": "image", "mimeType": "image/png", "dataBase64": data}),
        json!({"type": "file", "mimeType": "image/png", "dataBase64": data}),
        json!({"type": "image", "image": data, "mediaType": "image/png"}),
        json!({"type": "media", "data": data, "mediaType": "image/png"}),
        json!({"type": "image-data", "data": data, "mediaType": "image/png"}),
        json!({"type": "file", "mediaType": "image/png", "data": {"type": "data", "data": data}}),
        json!({"type": "resource", "resource": {"uri": "a://b", "mimeType": "image/png", "blob": data}}),
        json!({"kind": "binary", "data": spelled, "media_type": "image/png", "vendor_metadata": null, "identifier": "1"}),
    ] {
        let call =
            json!({"id": "c", "type": "function", "function": {"name": "shot", "arguments": "{}"}});
        let user = json!({"role": "user", "content": [part]});
        let tool =
            json!({"role": "tool", "tool_call_id": "c", "content": json!([part]).to_string()});
        for messages in [json!([user]), json!([{"role": "assistant", "tool_calls": [call]}, tool])]
        {
            let request = json!({ "messages": messages }).to_string();
            for wire in Wire::ALL {
                let profile = Profile::generic(wire);
                let lowered = lower(Wire::OpenAiChat, request.as_bytes(), &profile).body;
                let seen = seen("part", wire, &lowered, &rules(&profile));
                let shown = seen.images.iter().filter_map(|image| image.bytes());
                assert!(shown.eq([picture("bars.png").as_slice()]), "{wire}: {request}");
            }
        }
    }
}

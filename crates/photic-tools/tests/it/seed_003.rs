//! Compatibility with `inspect_image`: one test per input, mode, limit and error. `docs/seeds.md`
//! explains intended differences.

use photic::Wire;
use photic_mock::{Chart, Mock, Options};
use photic_pixels::header::probe;
use photic_tools::RefusalCode::{
    BlindModel, Corrupt, ImagesBlocked, ModelUnresolved, ModelsUnavailable, NoAnswer, NoKey,
    NoModels, RequestAborted, RequestFailed, TooLarge, UnsupportedFormat,
};
use photic_tools::{
    Answer, Bounds, InspectArguments, Key, Model, Refusal, RefusalCode, Tools, VisionModels,
};
use serde_json::{Value, json};

use crate::asking::{QUESTION, WIRES, answered, asked, mock, model, tools, vision_models};
use crate::world::{World, asking, captured, code, picture, png, wait};

/// A provider with a vision model and a blind model.
struct Stage {
    world: World,
    mock: Mock,
}

impl Stage {
    fn new() -> Self {
        Self { world: World::new(), mock: mock() }
    }

    fn sighted(&self) -> Model {
        model(&self.mock, Wire::OpenAiChat, "gpt-4o")
    }

    fn blind(&self) -> Model {
        model(&self.mock, Wire::OpenAiChat, "codestral-latest")
    }

    fn inspect(&self, eyes: VisionModels, source: &str) -> Result<Answer, Refusal> {
        wait(tools(&self.world, eyes).inspect(&asking(source, QUESTION)))
    }

    /// The picture and text that the provider received.
    fn sent(&self, name: &str, bytes: &[u8]) -> ((u32, u32), usize, Answer) {
        self.sent_to(self.sighted(), name, bytes)
    }

    fn sent_to(&self, model: Model, name: &str, bytes: &[u8]) -> ((u32, u32), usize, Answer) {
        self.world.write(name, bytes);
        let answer = self.inspect(vision_models(vec![model]), name).unwrap();
        let image = self.mock.journal().pop().unwrap().images.pop().unwrap();
        (image.pixels.unwrap(), image.bytes, answer)
    }
}

// Inputs.

#[test]
fn input_source_and_question_are_required_and_nothing_else_is_taken() {
    for bad in [
        json!({ "source": "a.png" }),
        json!({ "question": "?" }),
        json!({ "source": "a.png", "question": "?", "model": "other" }),
    ] {
        assert!(serde_json::from_value::<InspectArguments>(bad).is_err());
    }
}

#[test]
fn input_path_is_resolved_from_the_working_directory() {
    let stage = Stage::new();
    stage.world.write("folder/chart.png", Chart::of(3).png().unwrap());
    let builder = Tools::builder().root(stage.world.root()).cwd(stage.world.root().join("folder"));
    let tools = builder.vision_models(vision_models(vec![stage.sighted()])).build().unwrap();
    assert!(wait(tools.inspect(&asking("chart.png", QUESTION))).is_ok());
}

// Outputs.

#[test]
fn output_is_text_with_model_source_and_the_type_that_was_sent() {
    let stage = Stage::new();
    let (_, _, answer) = stage.sent("chart.png", &Chart::of(7).png().unwrap());
    assert!(answer.text.contains(&Chart::of(7).words()));
    assert_eq!(answer.model, "mock/gpt-4o");
    assert_eq!(answer.source, "chart.png");
    assert_eq!(answer.media_type, "image/png");
}

#[test]
fn output_is_single_shot() {
    let stage = Stage::new();
    stage.sent("chart.png", &Chart::of(7).png().unwrap());
    assert!(!stage.mock.journal()[0].stream);
}

// Flow.

#[test]
fn flow_1_the_gate_is_before_everything() {
    let stage = Stage::new();
    let mut gated = vision_models(Vec::new());
    gated.block_images = true;
    let refusal = stage.inspect(gated, "no-such-file").unwrap_err();
    assert_eq!(refusal.code, ImagesBlocked);
}

#[test]
fn flow_3_vision_then_default_then_active_then_the_first() {
    let stage = Stage::new();
    let models = ["gpt-4o", "gpt-4.1", "gpt-5.4", "gpt-4o-mini"]
        .map(|id| model(&stage.mock, Wire::OpenAiChat, id))
        .to_vec();
    let some = |name: &str| Some(name.to_owned());
    let asked = |vision: Option<String>, default: Option<String>, active: Option<String>| {
        let eyes = VisionModels { vision, default, active, ..vision_models(models.clone()) };
        stage.inspect(eyes, "picture.png").unwrap().model
    };
    let (vision, default, active) = (some("mock/gpt-4o-mini"), some("gpt-5.4"), some("gpt-4.1"));
    assert_eq!(asked(vision, default.clone(), active.clone()), "mock/gpt-4o-mini");
    assert_eq!(asked(None, default, active.clone()), "mock/gpt-5.4");
    assert_eq!(asked(None, None, active), "mock/gpt-4.1");
    assert_eq!(asked(None, None, None), "mock/gpt-4o");
    // Unknown names are skipped, except for the configured vision model.
    assert_eq!(asked(None, some("gone"), some("gone")), "mock/gpt-4o");
}

#[test]
fn flow_4_the_model_must_see_and_is_judged_before_the_file_is_read() {
    let stage = Stage::new();
    let refusal = stage.inspect(vision_models(vec![stage.blind()]), "no-such-file").unwrap_err();
    assert_eq!(refusal.code, BlindModel);
    // A blind model is skipped in favor of one that sees.
    let both = || vision_models(vec![stage.blind(), stage.sighted()]);
    let name = Some("mock/codestral-latest".to_owned());
    for eyes in [
        both(),
        VisionModels { default: name.clone(), ..both() },
        VisionModels { active: name.clone(), ..both() },
    ] {
        assert_eq!(stage.inspect(eyes, "picture.png").unwrap().model, "mock/gpt-4o");
    }
    // A blind model that is configured for vision is an error.
    let named = VisionModels { vision: name, ..both() };
    assert_eq!(code(stage.inspect(named, "picture.png")), BlindModel);
    assert!(stage.mock.journal().iter().all(|entry| entry.model == "gpt-4o"));
}

/// The request that a server received.
fn request(wire: Wire) -> Value {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
        let mut request = Vec::new();
        let _ = socket.read_to_end(&mut request);
        let _ = socket.write_all(b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n");
        let body = request.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        serde_json::from_slice(&request[body..]).unwrap()
    });
    let world = World::new();
    let id = WIRES.iter().find(|(other, _)| *other == wire).unwrap().1;
    let model = Model::new("raw", id, wire, &base, Key::Open);
    let tools = tools(&world, vision_models(vec![model]));
    assert!(wait(tools.inspect(&asking("picture.png", "What is there?"))).is_err());
    server.join().unwrap()
}

#[test]
fn flow_9_one_user_message_with_the_image_then_the_question() {
    let chat = request(Wire::OpenAiChat);
    let user = &chat["messages"][1];
    assert_eq!((chat["messages"].as_array().unwrap().len(), &user["role"]), (2, &json!("user")));
    assert_eq!(user["content"][0]["type"], "image_url");
    assert_eq!(user["content"][1], json!({ "type": "text", "text": "What is there?" }));
    let responses = request(Wire::OpenAiResponses);
    let user = responses["input"].as_array().unwrap().iter().find(|item| item["role"] == "user");
    let content = &user.unwrap()["content"];
    assert_eq!(content[0]["type"], "input_image");
    assert_eq!(content[1], json!({ "type": "input_text", "text": "What is there?" }));
    let messages = request(Wire::Anthropic);
    let content = &messages["messages"][0]["content"];
    assert_eq!(messages["messages"].as_array().unwrap().len(), 1);
    assert_eq!(content[0]["type"], "image");
    assert_eq!(content[1]["text"], "What is there?");
}

#[test]
fn flow_10_one_system_prompt() {
    let said = |body: &Value| body.to_string().matches("You are the eyes").count();
    for wire in Wire::ALL {
        assert_eq!(said(&request(wire)), 1, "{wire}");
    }
    assert_eq!(request(Wire::OpenAiChat)["messages"][0]["role"], "system");
}

#[test]
fn flow_12_only_text_is_concatenated_and_trimmed() {
    let body = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-5",
        "stop_reason": "end_turn",
        "content": [
            { "type": "thinking", "thinking": "hidden", "signature": "s" },
            { "type": "text", "text": "  one " },
            { "type": "tool_use", "id": "t", "name": "view", "input": {} },
            { "type": "text", "text": "two\n" },
        ],
    });
    let answer = answered(Wire::Anthropic, "200 OK", body.to_string()).unwrap();
    assert_eq!(answer.text, "one two");
    let body = json!({ "id": "r", "object": "response", "status": "completed", "output": [
        { "type": "reasoning", "id": "x", "summary": [{ "type": "summary_text", "text": "hidden" }] },
        { "type": "message", "role": "assistant", "status": "completed", "id": "m", "content": [
            { "type": "output_text", "text": " a", "annotations": [] },
            { "type": "output_text", "text": "b ", "annotations": [] }] }] });
    let answer = answered(Wire::OpenAiResponses, "200 OK", body.to_string()).unwrap();
    assert_eq!(answer.text, "ab");
    let body = json!({ "choices": [{ "index": 0, "finish_reason": "stop",
        "message": { "role": "assistant", "content": "\n c \n" } }] });
    let answer = answered(Wire::OpenAiChat, "200 OK", body.to_string()).unwrap();
    assert_eq!(answer.text, "c");
}

// Modes.

#[test]
fn mode_original_sends_the_pixels_as_they_are() {
    let stage = Stage::new();
    let bytes = picture(2400, 1800);
    stage.world.write("large.png", &bytes);
    let eyes = VisionModels { auto_resize: false, ..vision_models(vec![stage.sighted()]) };
    let answer = stage.inspect(eyes, "large.png").unwrap();
    let image = stage.mock.journal().pop().unwrap().images.pop().unwrap();
    assert_eq!((image.pixels, answer.media_type.as_str()), (Some((2400, 1800)), "image/png"));
    assert_eq!(image.bytes, bytes.len());
}

#[test]
fn mode_auto_resized_makes_them_small() {
    let stage = Stage::new();
    // A shape that the model would accept unchanged.
    let ((width, height), bytes, _) = stage.sent("wide.png", &picture(2040, 400));
    assert!(width.max(height) <= 1568 && bytes <= 500 << 10, "{width}x{height}");
    assert!(vision_models(Vec::new()).auto_resize, "on unless switched off");
}

#[test]
fn mode_unsupported_is_refused_before_any_call() {
    let stage = Stage::new();
    for (name, bytes) in [
        ("bitmap.bmp", bmp()),
        ("text.png", b"text".to_vec()),
        ("drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec()),
        ("data.bin", vec![0, 1, 2, 3]),
        ("empty.png", Vec::new()),
    ] {
        stage.world.write(name, bytes);
        let refusal = stage.inspect(vision_models(vec![stage.sighted()]), name).unwrap_err();
        let words =
            "inspect_image only supports PNG, JPEG, GIF, and WEBP files detected by file content.";
        assert_eq!(refusal.seed_003(), Some(words), "{name}: {refusal:?}");
    }
    assert!(stage.mock.journal().is_empty());
}

/// Two by two pixels.
fn bmp() -> Vec<u8> {
    let mut bytes =
        b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\x18\0".to_vec();
    bytes.resize(0x46, 0);
    bytes
}

#[test]
fn mode_oversize_is_refused_before_any_call() {
    let stage = Stage::new();
    let mut large = picture(64, 64);
    large.resize((20 << 20) + 1, 0);
    stage.world.write("large.png", large);
    assert_eq!(code(stage.inspect(vision_models(vec![stage.sighted()]), "large.png")), TooLarge);
    assert!(stage.mock.journal().is_empty());
}

// Limits.

#[test]
fn limit_png_jpeg_gif_and_webp_are_supported() {
    let stage = Stage::new();
    let gif = concat!(env!("CARGO_MANIFEST_DIR"), "/../photic-cli/tests/data/three-frames.gif");
    for bytes in [
        captured("bars.png"),
        captured("page.jpg"),
        captured("wave.webp"),
        std::fs::read(gif).unwrap(),
    ] {
        stage.world.write("any", bytes);
        assert!(stage.inspect(vision_models(vec![stage.sighted()]), "any").is_ok());
    }
    stage.world.write("bitmap.bmp", bmp());
    let refusal = code(stage.inspect(vision_models(vec![stage.sighted()]), "bitmap.bmp"));
    assert_eq!(refusal, UnsupportedFormat);
}

#[test]
fn limit_the_type_is_decided_by_256_kib() {
    assert_eq!(Bounds::default().sniff_bytes, 256 << 10);
    assert_eq!(photic_pixels::header::MAX_PROBE_BYTES, 256 << 10);
}

#[test]
fn limit_20_mib_exactly() {
    let stage = Stage::new();
    let mut exactly = picture(64, 64);
    exactly.resize(20 << 20, 0);
    stage.world.write("exactly.png", &exactly);
    assert!(stage.inspect(vision_models(vec![stage.sighted()]), "exactly.png").is_ok());
    exactly.push(0);
    stage.world.write("over.png", &exactly);
    assert_eq!(code(stage.inspect(vision_models(vec![stage.sighted()]), "over.png")), TooLarge);
}

#[test]
fn limit_1568_by_1568() {
    let stage = Stage::new();
    for (width, height) in [(1569, 400), (400, 1569), (3000, 3000)] {
        let ((w, h), ..) = stage.sent("any.png", &picture(width, height));
        assert!(w.max(h) <= 1568, "{width}x{height} became {w}x{h}");
    }
}

#[test]
fn limit_500_kib() {
    let stage = Stage::new();
    let noisy = noise(1500, 1500);
    assert!(noisy.len() > 2 << 20);
    // A model that accepts this size, so that its own limits do not apply first.
    let unknown = model(&stage.mock, Wire::OpenAiChat, "own-model");
    let (_, bytes, answer) = stage.sent_to(unknown, "noise.png", &noisy);
    assert!(bytes <= 500 << 10, "{bytes}");
    assert_ne!(answer.media_type, "image/png", "only a lossy type gets there");
}

/// A picture that lossless encoding does not shrink.
fn noise(width: u32, height: u32) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 24) as u8
    };
    png(width, height, (0..width * height * 3).map(|_| next()).collect())
}

#[test]
fn limit_small_pictures_pass_unchanged() {
    let stage = Stage::new();
    let bytes = picture(700, 500);
    assert!(bytes.len() < 125 << 10);
    let (size, sent, _) = stage.sent("small.png", &bytes);
    assert_eq!((size, sent), ((700, 500), bytes.len()));
}

#[test]
fn limit_no_side_is_made_shorter_than_100() {
    let caps = photic_pixels::fit::Preset::Seed003.caps();
    assert_eq!((caps.edge, caps.bytes, caps.floor), (Some(1568), Some(500 << 10), 100));
}

#[test]
fn limit_the_type_may_change_and_the_label_is_that_of_the_bytes() {
    let stage = Stage::new();
    let (_, _, answer) = stage.sent("noise.png", &noise(1500, 1500));
    assert!(["image/jpeg", "image/webp"].contains(&answer.media_type.as_str()));
    assert!(stage.mock.journal().pop().unwrap().violations.is_empty(), "a wrong label is one");
}

// Errors, with the messages of the replaced tool.

#[track_caller]
fn says(refusal: &Refusal, code: RefusalCode, words: &str) {
    assert_eq!((refusal.code, refusal.seed_003()), (code, Some(words)), "{refusal:?}");
}

#[test]
fn error_images_blocked() {
    let stage = Stage::new();
    let gated = VisionModels { block_images: true, ..vision_models(vec![stage.sighted()]) };
    let refusal = stage.inspect(gated, "picture.png").unwrap_err();
    let words = "Image submission is disabled by settings (images.blockImages=true). \
                 Disable it to use inspect_image.";
    says(&refusal, ImagesBlocked, words);
}

#[test]
fn error_registry_unavailable() {
    let stage = Stage::new();
    let words = "Model registry is unavailable for inspect_image.";
    let unknown = VisionModels { models: None, ..vision_models(Vec::new()) };
    says(&stage.inspect(unknown, "picture.png").unwrap_err(), ModelsUnavailable, words);
    let none = wait(stage.world.tools().inspect(&asking("picture.png", QUESTION)));
    says(&none.unwrap_err(), ModelsUnavailable, words);
}

#[test]
fn error_no_models() {
    let stage = Stage::new();
    let refusal = stage.inspect(vision_models(Vec::new()), "picture.png").unwrap_err();
    says(&refusal, NoModels, "No models available for inspect_image.");
}

#[test]
fn error_unable_to_resolve() {
    let stage = Stage::new();
    let eyes =
        VisionModels { vision: Some("gone".to_owned()), ..vision_models(vec![stage.sighted()]) };
    let refusal = stage.inspect(eyes, "picture.png").unwrap_err();
    says(&refusal, ModelUnresolved, "Unable to resolve a model for inspect_image.");
    assert_eq!(refusal.candidates, ["mock/gpt-4o"]);
}

#[test]
fn error_model_without_sight() {
    let stage = Stage::new();
    let refusal = stage.inspect(vision_models(vec![stage.blind()]), "picture.png").unwrap_err();
    let words = "Resolved model mock/codestral-latest does not support image input. \
                 Configure a vision-capable model for modelRoles.vision.";
    says(&refusal, BlindModel, words);
}

#[test]
fn error_no_api_key() {
    let stage = Stage::new();
    let keyless = Model { key: Key::Missing, ..stage.sighted() };
    let refusal = stage.inspect(vision_models(vec![keyless]), "picture.png").unwrap_err();
    let words = "No API key available for mock/gpt-4o. Configure credentials for this provider \
                 or choose another vision-capable model.";
    says(&refusal, NoKey, words);
    assert!(stage.mock.journal().is_empty());
}

#[test]
fn error_too_large() {
    let stage = Stage::new();
    let mut large = picture(64, 64);
    large.resize(21 << 20, 0);
    stage.world.write("large.png", large);
    let refusal = stage.inspect(vision_models(vec![stage.sighted()]), "large.png").unwrap_err();
    says(&refusal, TooLarge, "Image file too large: 21.0MB exceeds 20.0MB limit.");
}

#[test]
fn error_request_failed_with_the_words_of_the_provider() {
    let body = json!({ "error": { "message": "The model is overloaded." } }).to_string();
    let refusal = answered(Wire::OpenAiChat, "503 Unavailable", body).unwrap_err();
    says(&refusal, RequestFailed, "The model is overloaded.");
    assert!(refusal.says.contains("The model is overloaded."));
    // Also with a successful status.
    let body = json!({ "error": { "message": "No, after all." } }).to_string();
    let refusal = answered(Wire::OpenAiResponses, "200 OK", body).unwrap_err();
    says(&refusal, RequestFailed, "No, after all.");
}

#[test]
fn error_request_failed_without_words() {
    let refusal = answered(Wire::OpenAiChat, "500 Oops", String::new()).unwrap_err();
    says(&refusal, RequestFailed, "inspect_image request failed.");
}

#[test]
fn error_request_aborted() {
    let cut = Options { misbehave: vec![photic_mock::Misbehavior::Cut], ..Options::default() };
    let refusal = asked(&Mock::start(cut).unwrap()).unwrap_err();
    says(&refusal, RequestAborted, "inspect_image request aborted.");
}

#[test]
fn error_no_text_output() {
    let reply = |content: &str| {
        json!({ "choices": [{ "index": 0, "finish_reason": "stop",
            "message": { "role": "assistant", "content": content } }] })
        .to_string()
    };
    for content in ["", " \n\t"] {
        let refusal = answered(Wire::OpenAiChat, "200 OK", reply(content)).unwrap_err();
        says(&refusal, NoAnswer, "inspect_image model returned no text output.");
    }
}

// Notes.

#[test]
fn note_a_name_does_not_make_a_picture() {
    let stage = Stage::new();
    stage.world.write("renamed.png", "just words\n");
    assert!(stage.inspect(vision_models(vec![stage.sighted()]), "renamed.png").is_err());
    stage.world.write("renamed.txt", Chart::of(7).png().unwrap());
    assert!(stage.inspect(vision_models(vec![stage.sighted()]), "renamed.txt").is_ok());
}

#[cfg(unix)]
#[test]
fn note_names_of_macos_are_found() {
    let stage = Stage::new();
    stage.world.write("Screenshot at 3.14\u{202f}PM.png", Chart::of(7).png().unwrap());
    let asked = "Screenshot\\ at\\ 3.14\\ PM.png";
    assert!(stage.inspect(vision_models(vec![stage.sighted()]), asked).is_ok());
}

// Intended differences.

#[test]
fn difference_a_failed_resize_is_a_refusal() {
    let stage = Stage::new();
    stage.world.write("torn.png", &picture(640, 480)[..200]);
    assert_eq!(code(stage.inspect(vision_models(vec![stage.sighted()]), "torn.png")), Corrupt);
    assert!(stage.mock.journal().is_empty());
}

#[test]
fn difference_metadata_never_leaves() {
    let stage = Stage::new();
    // A text chunk right after the header of a PNG.
    let plain = picture(300, 200);
    let chunk = b"\0\0\0\x0etEXtGPS\0somewhere!";
    let mut tagged = plain[..33].to_vec();
    tagged.extend(chunk);
    tagged.extend(crc(&chunk[4..]).to_be_bytes());
    tagged.extend(&plain[33..]);
    assert!(probe(&tagged).is_ok());
    for auto_resize in [true, false] {
        stage.world.write("tagged.png", &tagged);
        let eyes = VisionModels { auto_resize, ..vision_models(vec![stage.sighted()]) };
        stage.inspect(eyes, "tagged.png").unwrap();
        let image = stage.mock.journal().pop().unwrap().images.pop().unwrap();
        assert_eq!(image.bytes, plain.len(), "auto_resize {auto_resize}");
    }
}

/// The checksum of a PNG chunk.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }
        })
    })
}

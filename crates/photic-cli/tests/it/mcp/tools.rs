//! `view` and `read` through the protocol.

use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{Layout, Raster};
use photic_testkit::image;
use serde_json::{Value, json};

use super::client::{Folder, Pipe};

const META: &str = "photic.dev/result";

fn words(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn tools_are_listed_in_their_order_with_schemas_of_what_they_give() {
    let folder = Folder::new("listed");
    let mut pipe = Pipe::begun(&folder.0, "test", &[]);
    let listed = pipe.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["list", "view", "read", "probe"]);
    // Only tools whose data is not their text have one.
    let with_schema = |tool: &&Value| tool["outputSchema"]["type"] == "object";
    let structured: Vec<&Value> =
        tools.iter().filter(with_schema).map(|tool| &tool["name"]).collect();
    assert_eq!(structured, ["view", "probe"]);
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let again = pipe.ask("tools/list", &json!({}));
    assert_eq!(again["result"], listed["result"]);
}

#[test]
fn a_page_of_a_text_is_seen_with_its_lines() {
    let folder = Folder::new("pages");
    folder.write("notes.py", "print('hello')\n".repeat(60));
    let mut pipe = Pipe::begun(&folder.0, "test", &[]);
    let seen = pipe.call("view", &json!({"source": "notes.py", "page": 2}));
    assert!(words(&seen).starts_with("notes.py: 1092x"), "{}", words(&seen));
    assert!(words(&seen).contains("this is page 2 of 2"), "{}", words(&seen));
    let facts = &seen["structuredContent"]["view"];
    assert_eq!((&facts["lines"], &facts["unit"]), (&json!([44, 60]), &json!("px")), "{facts}");
    assert!(seen["content"].as_array().unwrap().iter().any(|part| part["type"] == "image"));
}

/// Hosts that would show their model the data instead of the picture get the data elsewhere.
#[test]
fn a_host_known_to_lose_pictures_gets_no_structured_content() {
    let folder = Folder::new("hosts");
    folder.write("a.png", image::png(64, 48, [200, 30, 60]));
    for (host, arguments, structured) in [
        ("claude-code", &[][..], false),
        ("codex-mcp-client", &[], false),
        ("opencode", &[], false),
        ("claude-ai", &[], true),
        ("claude-code", &["--structured", "always"], true),
        ("claude-ai", &["--structured", "never"], false),
    ] {
        let mut pipe = Pipe::begun(&folder.0, host, arguments);
        let listed = pipe.ask("tools/list", &json!({}));
        let view = &listed["result"]["tools"][1];
        assert_eq!(view.get("outputSchema").is_some(), structured, "{host}");
        let result = pipe.call("view", &json!({"source": "a.png"}));
        assert_eq!(result.get("structuredContent").is_some(), structured, "{host}");
        assert_eq!(result["content"][1]["type"], "image");
        assert_eq!(result["_meta"][META]["view"]["source_width"].is_u64(), !structured, "{host}");
    }
}

/// Gray noise, which nothing compresses: as heavy as a screenshot of that size gets.
fn noise_4k() -> Vec<u8> {
    let mut state = 7_u64;
    let sample = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    let data = (0..3840 * 2160).map(sample).collect();
    let raster = Raster { width: 3840, height: 2160, layout: Layout::Gray, data };
    let options = EncodeOptions {
        accepts: &["image/png"],
        prefer: Prefer::Lossless,
        ..EncodeOptions::default()
    };
    let file = encode(&raster, &options).unwrap().bytes;
    assert!(file.len() > 8_000_000, "{} bytes", file.len());
    file
}

#[test]
fn a_noisy_4k_screenshot_fits_and_a_zoom_reads_the_original() {
    let folder = Folder::new("4k");
    folder.write("noise.png", noise_4k());
    let mut pipe = Pipe::begun(&folder.0, "test", &["--for", "claude-sonnet-5"]);
    for arguments in [
        json!({"source": "noise.png"}),
        json!({"source": "noise.png", "fidelity": "pixel"}),
        json!({"source": "noise.png", "region": "100,200,400,300"}),
        json!({"source": "noise.png", "region": [100, 200, 400, 300], "max_edge": 64}),
        json!({"source": "noise.png", "max_bytes": 20000}),
    ] {
        let result = pipe.call("view", &arguments);
        assert_eq!(result["isError"], false, "{}", words(&result));
        assert!(result.to_string().chars().count() <= 1_048_576, "{arguments}");
        let facts = &result["structuredContent"]["view"];
        assert_eq!((&facts["source_width"], &facts["source_height"]), (&json!(3840), &json!(2160)));
        assert!(words(&result).contains(&format!("scale {:.3}", facts["scale"].as_f64().unwrap())));
        let data = result["content"][1]["data"].as_str().unwrap();
        assert!(!facts.to_string().contains(&data[..64]), "bytes stand in structured content");
        assert_eq!(&result["content"][1]["_meta"][META], facts);
        assert!(facts["hash"].as_str().unwrap().starts_with("blake3:"));
        let most = arguments["max_bytes"].as_u64().unwrap_or(u64::MAX);
        assert!(facts["byte_size"].as_u64().unwrap() <= most);
        let longest = facts["width"].as_u64().max(facts["height"].as_u64()).unwrap();
        assert!(longest <= arguments["max_edge"].as_u64().unwrap_or(u64::MAX));
        if arguments.get("region").is_some() {
            let shown = json!({"x": 100, "y": 200, "width": 400, "height": 300});
            assert_eq!(facts["region"], shown);
        }
        if arguments["region"] == "100,200,400,300" {
            assert_eq!(facts["scale"], 1.0, "a zoom shows every pixel of the original");
        }
    }
}

#[test]
fn facts_alone_say_that_nothing_was_seen() {
    let folder = Folder::new("ref");
    folder.write("a.png", image::png(64, 48, [200, 30, 60]));
    let mut pipe = Pipe::begun(&folder.0, "test", &[]);
    let result = pipe.call("view", &json!({"source": "a.png", "return": "ref"}));
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
    assert!(words(&result).contains("you have not seen it"));
    assert_eq!(result["structuredContent"]["view"]["source_width"], 64);
}

/// With a store, a view can be looked at again by its handle, also when the file is gone.
#[test]
fn a_handle_leads_back_to_the_original() {
    let folder = Folder::new("handle");
    folder.write("a.png", image::png_noise(300, 200, 1));
    let store = Folder::new("handle-store");
    let arguments = ["--store", store.0.to_str().unwrap()];
    let mut pipe = Pipe::begun(&folder.0, "test", &arguments);
    let first = pipe.call("view", &json!({"source": "a.png"}));
    let handle = first["structuredContent"]["view"]["ref"].as_str().unwrap().to_owned();
    assert!(words(&first).contains(&handle), "{}", words(&first));
    std::fs::remove_file(folder.0.join("a.png")).unwrap();
    let again = pipe.call("view", &json!({"source": handle, "region": "10,10,50,40"}));
    assert_eq!(again["isError"], false, "{}", words(&again));
    assert_eq!(again["structuredContent"]["view"]["region"]["width"], 50);
    assert_eq!(pipe.leave(), Some(0));
    // It outlives the server.
    let mut pipe = Pipe::begun(&folder.0, "test", &arguments);
    let later = pipe.call("view", &json!({"source": handle}));
    assert_eq!(later["content"][1]["data"], first["content"][1]["data"]);
}

#[test]
fn read_gives_lines_and_where_they_stand() {
    let folder = Folder::new("read");
    folder.write("a.txt", "one\ntwo\nthree\nfour\n");
    let mut pipe = Pipe::begun(&folder.0, "test", &[]);
    let result = pipe.call("read", &json!({"source": "a.txt", "lines": "2-3"}));
    assert_eq!(words(&result), "lines 2-3 of 4\ntwo\nthree\n");
    let facts = &result["_meta"][META]["read"];
    assert_eq!((&facts["first_line"], &facts["total_lines"]), (&json!(2), &json!(4)));
    // What hosts send for a field that was not filled in.
    let result = pipe.call("read", &json!({"source": "a.txt", "lines": null}));
    assert_eq!(result["_meta"][META]["read"]["last_line"], 4);
}

/// A text in two places is paid for twice, and a token that no tool takes is paid for in vain.
#[test]
fn a_text_comes_once_and_no_token_that_no_tool_takes() {
    let folder = Folder::new("once");
    folder.write("a.txt", "a text that is easy to find\n");
    for host in ["claude-ai", "claude-code"] {
        let mut pipe = Pipe::begun(&folder.0, host, &["--structured", "always"]);
        let result = pipe.call("read", &json!({"source": "a.txt"})).to_string();
        assert_eq!(result.matches("easy to find").count(), 1, "{result}");
        assert!(!result.contains("fresh"), "{result}");
        let listed = pipe.call("list", &json!({})).to_string();
        assert_eq!(listed.matches("a.txt").count(), 1, "{listed}");
    }
}

#[test]
fn the_model_learns_the_roots_and_what_is_in_them() {
    let folder = Folder::new("roots");
    let more = Folder::new("roots-more");
    folder.write("a.txt", "words\n");
    folder.write("orders.png", image::png(64, 48, [200, 30, 60]));
    more.write("b.txt", "words\n");
    let arguments = ["--root", more.0.to_str().unwrap()];
    let mut pipe = Pipe::start(&folder.0, &arguments);
    let begun = pipe.initialize("2025-11-25");
    pipe.tell("notifications/initialized", &json!({}));
    let instructions = begun["result"]["instructions"].as_str().unwrap();
    for root in [&folder.0, &more.0] {
        assert!(instructions.contains(root.to_str().unwrap()), "{instructions}");
    }
    assert!(instructions.contains("`list`"), "{instructions}");
    assert!(!instructions.contains("inspect"), "it has no model: {instructions}");
    assert!(instructions.len() < 1000, "every conversation pays for it: {}", instructions.len());

    let listed = pipe.call("list", &json!({}));
    assert!(words(&listed).contains("\norders.png  PNG 64x48, "), "{}", words(&listed));
    let other = more.0.join("b.txt");
    assert!(words(&listed).contains(other.to_str().unwrap()), "{}", words(&listed));
    let found = pipe.call("list", &json!({"name": "*.png"}));
    assert_eq!(words(&found).lines().count(), 2, "{}", words(&found));

    let refused = pipe.call("view", &json!({"source": "order.png"}));
    let refusal = &refused["structuredContent"]["refusal"];
    assert_eq!(refusal["candidates"], json!(["orders.png"]), "{refusal}");
    let refused = pipe.call("view", &json!({"source": "/etc/passwd"}));
    let hint = refused["structuredContent"]["refusal"]["hint"].as_str().unwrap();
    for root in [&folder.0, &more.0] {
        assert!(hint.contains(root.to_str().unwrap()), "{hint}");
    }
}

/// Tools and sources that cannot work are not listed and not described. A call of one names the flag.
#[test]
fn what_cannot_work_is_not_offered() {
    let folder = Folder::new("offered");
    folder.write("a.png", image::png(64, 48, [200, 30, 60]));
    let offered = |arguments: &[&str], key: Option<&str>| {
        let mut command = crate::photic();
        command.arg("mcp").arg("--root").arg(&folder.0).args(arguments);
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"] {
            command.env_remove(name);
        }
        command.envs(key.map(|name| (name, "any"))).stderr(std::process::Stdio::null());
        let mut pipe = Pipe::of(command);
        pipe.initialize("2025-11-25");
        pipe.tell("notifications/initialized", &json!({}));
        let listed = pipe.ask("tools/list", &json!({}))["result"]["tools"].to_string();
        let asked = pipe.call("inspect", &json!({"source": "a.png", "question": "What?"}));
        (listed, words(&asked).to_owned())
    };
    let (listed, told) = offered(&[], Some("OPENAI_API_KEY"));
    for word in ["inspect", "https", "img_", "fresh"] {
        assert!(!listed.contains(word), "{word}");
    }
    assert!(told.contains("--model") && told.contains("OPENAI_API_KEY"), "{told}");
    // A model without its key answers nothing either.
    let (listed, told) = offered(&["--model", "claude-sonnet-5"], Some("OPENAI_API_KEY"));
    assert!(!listed.contains("inspect"), "{listed}");
    assert!(told.contains("no_key") && told.contains("ANTHROPIC_API_KEY"), "{told}");
    // Nor does one that is blind.
    let (listed, told) = offered(&["--model", "gpt-3.5-turbo"], Some("OPENAI_API_KEY"));
    assert!(!listed.contains("inspect"), "{listed}");
    assert!(told.contains("blind_model") && told.contains("--model"), "{told}");
    let kept = Folder::new("offered-store");
    let store = kept.0.to_str().unwrap();
    let (listed, _) =
        offered(&["--store", store, "--model", "claude-sonnet-5"], Some("ANTHROPIC_API_KEY"));
    assert!(listed.contains("inspect") && listed.contains("img_"), "{listed}");
}

/// A narrow page was off by 8 px at its lower end, with one factor for both directions.
#[test]
fn points_of_a_narrow_view_map_exactly() {
    let folder = Folder::new("narrow");
    folder.write("page.png", image::png(1000, 2913, [200, 30, 60]));
    let mut pipe = Pipe::begun(&folder.0, "test", &[]);
    let seen = pipe.call("view", &json!({"source": "page.png", "max_edge": 300}));
    let facts = &seen["structuredContent"]["view"];
    assert_eq!((&facts["width"], &facts["height"]), (&json!(103), &json!(300)), "{facts}");
    let (_, rest) = words(&seen).split_once("(x, y) here is (").unwrap();
    let (x, rest) = rest.split_once("x, ").unwrap();
    let (y, _) = rest.split_once("y) in the original").unwrap();
    let factor = |text: &str| text.parse::<f64>().unwrap();
    for (told, name, shown, original) in [(x, "a", 103.0, 1000.0), (y, "d", 300.0, 2913.0)] {
        assert!((factor(told) * shown - original).abs() < 0.1, "{told}: {}", words(&seen));
        let exact = facts["map"][name].as_f64().unwrap();
        assert!((exact * shown - original).abs() < 1e-6, "{name}: {facts}");
    }
}

/// A "no" is a result that tells what to do, and a protocol error is left to those who cannot read.
#[test]
fn refusals_are_results_that_lead_on() {
    let folder = Folder::new("refusals");
    folder.write("a.txt", "words\n");
    folder.write("a.png", image::png(64, 48, [200, 30, 60]));
    let mut pipe = Pipe::begun(&folder.0, "test", &["--no-render"]);
    for (tool, arguments, code, leads) in [
        ("view", json!({"source": "a.txt"}), "needs_render", "read"),
        ("read", json!({"source": "a.png"}), "not_text", "view"),
        ("view", json!({"source": "../a.png"}), "outside_roots", "`list`"),
        ("list", json!({"folder": "../a"}), "outside_roots", "relative paths begin there"),
        ("list", json!({"folder": "b"}), "absent", "list"),
        ("view", json!({"source": "https://a.example/b.png"}), "needs_net", "below a root"),
        ("view", json!({"source": "img_0123456789abcdef"}), "needs_store", "--store"),
        ("view", json!({"source": "b.png"}), "absent", ""),
        ("view", json!({}), "bad_arguments", "schema"),
        ("view", json!({"source": "a.png", "colour": 1}), "bad_arguments", "schema"),
        ("view", json!({"source": "a.png", "region": "900,900,5,5"}), "bad_region", "0,0,64,48"),
        ("inspect", json!({"source": "a.png", "question": "?"}), "models_unavailable", "--model"),
        ("probe", json!({"challenge": "1"}), "bad_arguments", "probe"),
        ("probe", json!({"challenge": "1", "answer": "red"}), "absent", "probe"),
    ] {
        let result = pipe.call(tool, &arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {}", words(&result));
        let structured = &result["structuredContent"]["refusal"];
        let meta = &result["_meta"][META]["refusal"];
        let refusal = if structured.is_object() { structured } else { meta };
        assert_eq!(refusal["code"], code, "{tool} {arguments}: {}", words(&result));
        assert!(words(&result).starts_with(&format!("refused ({code}): ")));
        assert!(refusal["hint"].as_str().unwrap().contains(leads), "{}", words(&result));
        // Clients hold refusals against the output schema, too.
        assert!(refusal["candidates"].is_array(), "{refusal}");
    }
    let unknown = pipe.ask("tools/call", &json!({"name": "paint", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

//! `probe` reports whether a host passes pictures on to its model.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_pixels::chart::{PALETTE, PLAIN_COLORS};
use photic_pixels::decode::{DecodeOptions, decode};
use photic_pixels::{DecodeLimits, header};
use serde_json::{Value, json};

use super::client::{Folder, Listening, PREVIOUS, Pipe, request};

const GUESS: &str = "red red red red red red red red red red red red red red red red";

/// The colors of a chart, from its pixels.
fn look(result: &Value) -> String {
    let data = result["content"][1]["data"].as_str().unwrap();
    let bytes = STANDARD.decode(data).unwrap();
    let header = header::probe(&bytes).unwrap();
    let raster =
        decode(&bytes, &header, &DecodeLimits::default(), DecodeOptions::default()).unwrap().raster;
    let color = |cell: u32| {
        let (x, y) = (cell % 4, cell / 4);
        let (x, y) = (raster.width * (2 * x + 1) / 8, raster.height * (2 * y + 1) / 8);
        let samples = raster.layout.samples();
        let start = (y as usize * raster.width as usize + x as usize) * samples;
        let pixel = &raster.data[start..start + 3];
        let far = |color: &[u8; 3]| -> i32 {
            color.iter().zip(pixel).map(|(a, b)| (i32::from(*a) - i32::from(*b)).pow(2)).sum()
        };
        PALETTE.iter().min_by_key(|(_, color)| far(color)).unwrap().0
    };
    (0..16).map(color).collect::<Vec<_>>().join(", ")
}

/// Asks until the verdict is clear: a guess is too good once in some hundred times.
fn verdict(mut call: impl FnMut(Value) -> Value, answer: impl Fn(&Value) -> String) -> Value {
    for _ in 0..4 {
        let shown = call(json!({}));
        let challenge = &shown["structuredContent"]["challenge"]["challenge"];
        let said = json!({"challenge": challenge, "answer": answer(&shown), "control": GUESS});
        let found = call(said.clone());
        let finding = found["structuredContent"]["finding"].clone();
        // Judged once.
        assert_eq!(call(said)["structuredContent"]["refusal"]["code"], "absent");
        if finding["verdict"] != "cannot_tell" {
            return finding;
        }
    }
    json!({"verdict": "four unclear ones"})
}

#[test]
fn a_host_that_shows_pixels_sees_and_one_that_does_not_is_blind() {
    let folder = Folder::new("probe");
    let mut pipe = Pipe::begun(&folder.0, "test", &[]);
    let sees = verdict(|arguments| pipe.call("probe", &arguments), look);
    assert_eq!((&sees["verdict"], &sees["hits"]), (&json!("sees"), &json!(16)));
    let blind = verdict(|arguments| pipe.call("probe", &arguments), |_| GUESS.to_owned());
    assert_eq!(blind["verdict"], "blind");
    let honest = verdict(|arguments| pipe.call("probe", &arguments), |_| "no image".to_owned());
    assert_eq!((&honest["verdict"], &honest["hits"]), (&json!("blind"), &json!(0)));
}

/// No text of the result holds the content of a chart, so a host that drops pixels is detected.
#[test]
fn the_answer_is_nowhere_but_in_the_pixels() {
    let folder = Folder::new("probe-text");
    let mut pipe = Pipe::begun(&folder.0, "test", &[]);
    let mut shown = pipe.call("probe", &json!({}));
    let colors = look(&shown);
    shown["content"][1]["data"] = json!("");
    let rest = shown.to_string().replace("structuredContent", "data");
    assert!(!rest.contains(&colors) && !rest.contains("hash"), "{rest}");
    // Every color is named once in the question and once in the data, whatever the chart shows.
    for (name, _) in &PALETTE[..PLAIN_COLORS] {
        assert_eq!(rest.matches(name).count(), 2, "{name}: {rest}");
    }
}

#[test]
fn a_challenge_outlives_the_connection_it_came_on() {
    let folder = Folder::new("probe-http");
    let server = Listening::start(&folder.0);
    let session = server.session("test");
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", PREVIOUS)];
    let mut id = 1;
    let call = |arguments: Value| {
        id += 1;
        let params = json!({"name": "probe", "arguments": arguments});
        let (_, _, messages) = server.post(&headers, &request(id, "tools/call", &params));
        messages.iter().find(|message| message["id"] == id).unwrap()["result"].clone()
    };
    assert_eq!(verdict(call, look)["verdict"], "sees");
}

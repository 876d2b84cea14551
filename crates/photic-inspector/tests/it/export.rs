//! Exported files: the same bytes for the same session, nothing secret in their texts, no
//! connections.

use photic_inspector::{ExportOptions, ExportedPictures, ExportedText};
use photic_store::wait;
use serde_json::Value;

use crate::world::{HOSTILE, SECRETS, World};

fn export(world: &World, options: &ExportOptions) -> (String, photic_inspector::Export) {
    let export = wait(world.inspector().export(&world.id, options)).unwrap();
    (String::from_utf8(export.html.clone()).unwrap(), export)
}

/// Returns the data inside of a file.
fn data(html: &str) -> Value {
    let (_, data) = html.split_once("id=\"photic-data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn the_same_session_gives_the_same_bytes() {
    let world = World::new(3);
    let options = ExportOptions::default();
    let inspector = world.inspector();
    let first = wait(inspector.export(&world.id, &options)).unwrap().html;
    // With everything known already, and by another process.
    let second = wait(inspector.export(&world.id, &options)).unwrap().html;
    let (third, _) = export(&world, &options);
    assert!(first == second, "a second export differs");
    assert!(first == third.as_bytes(), "another inspector writes other bytes");
}

#[test]
fn secrets_are_redacted_and_counted_before_the_file_is_written() {
    let world = World::new(2);
    let (full, _) =
        export(&world, &ExportOptions { text: ExportedText::Full, ..ExportOptions::default() });
    for secret in SECRETS {
        assert!(full.contains(secret), "the fixture has `{secret}`");
    }
    let (redacted, export) = export(&world, &ExportOptions::default());
    for secret in SECRETS {
        assert!(!redacted.contains(secret), "`{secret}` is in the file");
    }
    for kind in ["key", "mail", "path"] {
        assert!(export.redacted[kind] > 0, "{kind}: {:?}", export.redacted);
    }
    assert!(redacted.contains("▇ mail"));
    // The names of the machine and of the client's software are never in it.
    assert!(!full.contains("ines-macbook") && !full.contains("claude-cli"));
    assert!(!full.contains("\"img_"), "no handle that opens anything");
}

#[test]
fn without_texts_only_lengths_are_left() {
    let world = World::new(2);
    let options = ExportOptions { text: ExportedText::None, ..ExportOptions::default() };
    let (html, _) = export(&world, &options);
    let data = data(&html).to_string();
    for word in ["Refund", "customers", "page 0", SECRETS[0], SECRETS[1]] {
        assert!(!data.contains(word), "{word}");
    }
    assert!(data.contains("letters"));
}

#[test]
fn hostile_texts_stay_data() {
    let world = World::new(1);
    let (html, _) =
        export(&world, &ExportOptions { text: ExportedText::Full, ..ExportOptions::default() });
    assert!(!html.contains(HOSTILE), "markup of a text is in the page");
    assert!(data(&html).to_string().contains(HOSTILE), "and is in its data");
    for address in ["http://", "https://", "src=\"", "href=\"app"] {
        let (head, _) = html.split_once("<style>").unwrap();
        assert!(!head.contains(address), "{address} in the head");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn pictures_are_as_asked_for() {
    let world = World::new(2);
    let of = |pictures| {
        let options = ExportOptions { pictures, ..ExportOptions::default() };
        let (html, _) = export(&world, &options);
        let data = data(&html);
        let names: Vec<String> = data["images"].as_object().unwrap().keys().cloned().collect();
        (names, data["blobs"].as_array().unwrap().len())
    };
    let (none, _) = of(ExportedPictures::None);
    assert!(none.is_empty());
    let (small, _) = of(ExportedPictures::Small);
    assert!(small.iter().all(|name| name.ends_with("/thumb")) && small.len() == 2);
    let (sent, blobs) = of(ExportedPictures::Sent);
    assert!(sent.iter().any(|name| name.ends_with("/pictures/1/sent?turn=2")), "{sent:?}");
    assert!(!sent.iter().any(|name| name.ends_with("/original")));
    let (all, more) = of(ExportedPictures::All);
    assert!(all.iter().any(|name| name.ends_with("/original")));
    // They were sent as they came, and are stored once.
    assert_eq!(blobs, more);
}

#[test]
fn a_file_has_only_the_turns_asked_for() {
    let world = World::new(3);
    let options = ExportOptions { turns: Some((2, 3)), ..ExportOptions::default() };
    let (html, _) = export(&world, &options);
    let data = data(&html);
    let base = format!("/sessions/{}", world.id);
    let answers = data["answers"].as_object().unwrap();
    assert!(answers.contains_key(&format!("{base}/turns/2")));
    assert!(answers.contains_key(&format!("{base}/turns/3/messages?side=model")));
    assert!(answers.contains_key(&format!("{base}/compare?a=2&b=3")));
    assert!(!answers.contains_key(&format!("{base}/turns/1")));
    let rows = answers[&format!("{base}/turns")]["items"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(answers["/about"]["door"], "file");
    let wrong = ExportOptions { turns: Some((9, 9)), ..ExportOptions::default() };
    assert!(wait(world.inspector().export(&world.id, &wrong)).is_err());
    assert!(ExportOptions::turns("6-7").is_ok() && ExportOptions::turns("7-6").is_err());
}

#[test]
fn words_of_later_turns_are_not_in_the_file() {
    let world = World::new(3);
    let options = ExportOptions { turns: Some((1, 1)), ..ExportOptions::default() };
    let (html, _) = export(&world, &options);
    let data = data(&html);
    let cost = &data["answers"][format!("/sessions/{}/cost", world.id)];
    assert_eq!(cost["pictures"].as_array().unwrap().len(), 1);
    assert!(!data.to_string().contains("page 2"));
}

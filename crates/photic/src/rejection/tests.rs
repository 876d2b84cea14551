//! The corpus of refusals, real and look-alike, and bodies made to break a parser.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Class, classify, envelope, rules};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    text: String,
    status: Option<u16>,
    class: Class,
    limit: Option<u64>,
    position: Option<String>,
    /// What the innermost message must be, where an envelope is the point of the case.
    inner: Option<String>,
    source: String,
}

fn corpus() -> Vec<Case> {
    let text = include_str!("../../tests/data/rejections.toml");
    toml::from_str::<Corpus>(text).expect("the corpus parses").case
}

#[test]
fn every_shipped_rule_compiles() {
    let (rules, problems) = rules::load(include_str!("../../profiles/rejections.toml"));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(rules.len() > 60, "{}", rules.len());
}

#[test]
fn every_rule_has_a_case() {
    let (rules, _) = rules::load(include_str!("../../profiles/rejections.toml"));
    let mut unused: BTreeMap<usize, Class> =
        rules.iter().map(|rule| rule.class).enumerate().collect();
    for case in corpus() {
        if let Some((used, _)) = rules::first(&rules, case.status, &envelope::peel(&case.text)) {
            unused.remove(&used);
        }
    }
    assert!(unused.is_empty(), "rules without a case: {unused:?}");
}

#[test]
fn bad_rules_are_left_out() {
    let text = "as_of = \"x\"\n[[rule]]\nclass = \"order\"\npattern = \"(\"\n\
                [[rule]]\nclass = \"order\"\npattern = \"a\"";
    let (rules, problems) = rules::load(text);
    assert_eq!((rules.len(), problems.len()), (1, 1));
    assert_eq!(rules::load("nonsense [").0.len(), 0);
}

#[test]
fn the_corpus_is_classified() {
    let mut wrong = Vec::new();
    for case in corpus() {
        let got = classify(case.status, &case.text);
        let inner_ok = case.inner.as_ref().is_none_or(|inner| *inner == got.text);
        let same =
            (got.class, got.limit, &got.position) == (case.class, case.limit, &case.position);
        if !same || !inner_ok {
            wrong.push(format!(
                "{}\n  want {:?} {:?} {:?}\n  got  {got:?}",
                case.text, case.class, case.limit, case.position
            ));
        }
        assert!(!case.source.is_empty());
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_corpus_is_broad() {
    let mut count: BTreeMap<Class, usize> = BTreeMap::new();
    for case in corpus() {
        *count.entry(case.class).or_default() += 1;
    }
    assert!(count.get(&Class::Unrelated).is_some_and(|&n| n >= 40), "{count:?}");
    assert!(count.values().sum::<usize>() >= 150, "{count:?}");
    assert_eq!(count.len(), 16, "{count:?}");
}

#[test]
fn wrapping_changes_nothing() {
    for case in corpus().into_iter().filter(|case| !case.text.trim_start().starts_with(['{', '[']))
    {
        let plain = classify(case.status, &case.text);
        let inner = serde_json::json!({"type": "error", "error": {"message": case.text}});
        let raw = serde_json::json!({"error": {
            "message": "Provider returned error", "code": 400, "metadata": {"raw": inner.to_string()},
        }});
        let proxy = format!("proxy.BadRequest: UpstreamException - {inner}");
        let nested = serde_json::json!({"error": {"message": inner.to_string()}});
        for body in [inner.to_string(), raw.to_string(), proxy, nested.to_string()] {
            let wrapped = classify(case.status, &body);
            assert_eq!(wrapped.class, plain.class, "{body}");
            assert_eq!(wrapped.limit, plain.limit, "{body}");
            assert_eq!(wrapped.position, plain.position, "{body}");
        }
    }
}

#[test]
fn status_alone() {
    assert_eq!(classify(Some(413), "").class, Class::BodyTooLarge);
    assert_eq!(classify(Some(413), "<html>nginx</html>").class, Class::BodyTooLarge);
    for status in [None, Some(400), Some(404), Some(422), Some(500), Some(502)] {
        assert_eq!(classify(status, "").class, Class::Unrelated);
    }
    // A limit on the rate is not about this image, however it is worded.
    assert_eq!(classify(Some(429), "too many images").class, Class::Unrelated);
}

#[test]
fn hostile_bodies_do_no_harm() {
    let deep = format!("{}\"x\"{}", "{\"error\":".repeat(100), "}".repeat(100));
    let abyss = "[{\"error\":".repeat(100_000);
    let mut matryoshka = "Could not process image".to_owned();
    for _ in 0..12 {
        matryoshka = serde_json::json!({"message": matryoshka}).to_string();
    }
    let mut wide = "{\"message\":\"x\"}".to_owned();
    for _ in 0..4 {
        wide = format!("{{\"message\":\"y\",\"errors\":[{}]}}", vec![wide.as_str(); 20].join(","));
    }
    let long = format!("{{\"error\":{{\"message\":\"{}\"}}}}", "\u{e9}".repeat(3_000_000));
    for body in [
        "",
        " ",
        "{",
        "}",
        "[",
        "null",
        "{}",
        "[]",
        "\"\"",
        "{\"error\":null}",
        "{\"error\":{}}",
        "{\"error\":[]}",
        "{\"message\":17}",
        "{\"detail\":[{\"loc\":[1,null],\"msg\":3}]}",
        "'message': ",
        "'message': '",
        "'message': \"\\\"",
        "'message': \u{e9}",
        "\u{feff}{}",
        "messages[",
        "messages.",
        "data: {\"error\":",
        deep.as_str(),
        wide.as_str(),
        abyss.as_str(),
        matryoshka.as_str(),
        long.as_str(),
    ] {
        let rejection = classify(None, body);
        assert!(rejection.text.len() <= 8 * 1024);
    }
}

#[test]
fn cut_anywhere_a_body_is_still_read() {
    for case in corpus() {
        for (at, _) in case.text.char_indices().step_by(11) {
            let _ = classify(case.status, &case.text[..at]);
        }
    }
}

//! The corpus of refusals, real and look-alike, and bodies made to break a parser.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Class, Said, classify, classify_own_words, envelope, rules};

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
    /// The expected innermost message, if the case is about an envelope.
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
    // A rate limit is not about this image, whatever its wording.
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

/// Messages in which providers quote a value that they refuse. None of these is about media by
/// itself.
const QUOTING: [&str; 6] = [
    "Invalid value: '{}'. Supported values are: 'low', 'high', and 'auto'.",
    "Unrecognized request argument supplied: {}",
    "{}",
    "{\"error\":{\"message\":\"bad value \\\"{}\\\"\",\"param\":\"{}\"}}",
    "{'error': {'message': '{}', 'code': 'wrong'}}",
    "1 validation error\ninput_value='{}', input_type=str",
];

/// Returns the answer of a provider that quotes a value.
fn quoting(form: &str, value: &str) -> String {
    if form.starts_with("{\"") {
        let escaped = serde_json::to_string(value).unwrap();
        return form.replace("{}", &escaped[1..escaped.len() - 1]);
    }
    form.replace("{}", value)
}

#[test]
fn what_the_request_says_itself_teaches_nothing() {
    let mut wrong = Vec::new();
    for (number, case) in corpus().into_iter().enumerate() {
        let value = case.inner.as_ref().unwrap_or(&case.text);
        let places = [
            serde_json::json!({"messages": [{"detail": value}]}),
            serde_json::json!({value: true}),
            serde_json::json!({"user": value.to_uppercase()}),
            serde_json::json!({"text": format!("{value} and more")}),
            serde_json::json!({"text": serde_json::json!({"message": value}).to_string()}),
        ];
        for (at, form) in QUOTING.into_iter().enumerate() {
            // The class of a form without any value comes from the provider's own text.
            let own = classify(Some(400), &quoting(form, "x")).class;
            let said = places[(number + at) % places.len()].to_string();
            let answer = quoting(form, value);
            let got = classify_own_words(Some(400), &answer, &[Said::Json(said.as_bytes())]);
            if got.class != own && got.class != Class::Unrelated {
                wrong.push(format!("{answer}\n  with {said}\n  {got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn words_of_headers_paths_and_payloads_are_echoes_too() {
    let claim = "this model does not support image input";
    let encoded = photic_testkit::image::base64(claim.as_bytes());
    let body = format!("{{\"data\":\"data:image/png;base64,{encoded}\"}}");
    let path = "/v1/chat?x=this%20model%20does%20not%20support%20image%20input";
    let escaped: Vec<String> =
        claim.chars().map(|c| format!("\\\\u{:04x}", u32::from(c))).collect();
    let escaped = escaped.concat();
    let nested = format!("{{\"user\":\"{{\\\"message\\\":\\\"{escaped}\\\"}}\"}}");
    let answer = format!("cannot read: {claim}");
    assert_eq!(classify(Some(400), &answer).class, Class::ModalityUnsupported);
    for said in [
        Said::Text(claim),
        Said::Text(path),
        Said::Json(body.as_bytes()),
        Said::Json(nested.as_bytes()),
    ] {
        let got = classify_own_words(Some(400), &answer, &[said]);
        assert_eq!(got.class, Class::Unrelated, "{said:?}");
        assert!(!got.text.contains("support"), "{}", got.text);
    }
}

#[test]
fn an_answer_in_its_own_words_is_understood_whatever_it_names() {
    let body = serde_json::json!({
        "model": "gpt-x", "user": "u-17", "detail": "auto",
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "Is image input a thing? Say what the image shows."},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}},
        ]}],
        "tools": [{"type": "function", "function": {"name": "look_at_image", "description": "Looks."}}],
    })
    .to_string();
    let said = [
        Said::Json(body.as_bytes()),
        Said::Text("/v1/chat/completions"),
        Said::Text("Bearer sk-abc"),
    ];
    let named = classify_own_words(Some(400), "model gpt-x does not support image input", &said);
    assert_eq!(named.class, Class::ModalityUnsupported);
    let mut lost = Vec::new();
    for case in corpus() {
        let (raw, own) =
            (classify(case.status, &case.text), classify_own_words(case.status, &case.text, &said));
        if (raw.class, raw.limit, &raw.position) != (own.class, own.limit, &own.position) {
            lost.push(format!("{}\n  {raw:?}\n  {own:?}", case.text));
        }
    }
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
}

#[test]
fn a_long_request_is_heard_in_one_pass() {
    // The answer repeats one run of letters over and over. This would be quadratic if the run were
    // looked up at every position.
    let answer = "a".repeat(8000);
    let body = format!("{{\"text\":\"{}\"}}", "a ".repeat(1 << 20));
    let begun = std::time::Instant::now();
    let got = classify_own_words(Some(400), &answer, &[Said::Json(body.as_bytes())]);
    assert_eq!(got.text, "…");
    assert!(begun.elapsed() < std::time::Duration::from_secs(30));
}

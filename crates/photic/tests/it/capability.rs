//! What endpoints say about their models, read from their documents (`tests/data/capability.toml`),
//! and whose word counts.

use photic::profile::capability::{Stated, questions, statements};
use photic::profile::{Capability, Confidence, Fact, Sight};
use photic::{Profile, Wire};
use serde::Deserialize;

#[derive(Deserialize)]
struct Documents {
    document: Vec<Document>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    from: String,
    model: String,
    body: String,
    #[serde(default)]
    images: Capability,
    #[serde(default)]
    documents: Capability,
    #[serde(default)]
    audio: Capability,
    context: Option<u64>,
}

#[test]
fn documents_say_what_they_say_and_no_more() {
    let all: Documents = toml::from_str(include_str!("../data/capability.toml")).unwrap();
    assert!(all.document.len() >= 20);
    for document in &all.document {
        let mut profile = Profile::generic(Wire::OpenAiChat);
        (profile.sight, profile.limits.context_tokens) = (Sight::default(), None);
        let said = statements(&document.model, document.body.as_bytes());
        profile.hear(&said, "the test", "2026-11-16");
        let (sight, context) = (profile.sight, profile.limits.context_tokens);
        assert_eq!(
            (sight.images, sight.documents, sight.audio, context),
            (document.images, document.documents, document.audio, document.context),
            "{}: {said:?}",
            document.from
        );
    }
}

#[test]
fn what_an_endpoint_says_beats_what_was_shipped_but_not_what_was_seen() {
    let body = br#"{"data":[{"id":"m","input_modalities":["text"],"context_length":4096}]}"#;
    let said = statements("m", body);
    let mut profile = Profile::generic(Wire::OpenAiChat);
    profile.sight.images = Capability::Yes;
    let heard = profile.hear(&said, "GET /models", "2026-11-16");
    assert!(heard.iter().all(|one| one.wins));
    assert_eq!(heard[0].before, Some(Stated::Sight(Capability::Yes)));
    assert_eq!(profile.sight.images, Capability::No);
    let fact = profile.provenance().iter().find(|fact| fact.profile == "endpoint").unwrap();
    assert_eq!(
        (fact.as_of.as_str(), fact.source.as_str()),
        ("2026-11-16", "GET /models: input_modalities")
    );

    let mut probed = Profile::generic(Wire::OpenAiChat);
    probed.sight.images = Capability::Yes;
    probed.attribute(Fact {
        section: "sight".to_owned(),
        fields: vec!["images".to_owned()],
        as_of: "2026-11-15".to_owned(),
        source: "a probe".to_owned(),
        confidence: Confidence::High,
        profile: "learned".to_owned(),
    });
    let heard = probed.hear(&said, "GET /models", "2026-11-16");
    assert!(!heard[0].wins && heard[0].why.contains("was seen"), "{heard:?}");
    assert_eq!(probed.sight.images, Capability::Yes);
    assert_eq!(probed.limits.context_tokens, Some(4096));
}

#[test]
fn questions_go_where_the_documents_are() {
    let addresses = |wire, base: &str, model| -> Vec<String> {
        questions(wire, base, model).into_iter().map(|question| question.address).collect()
    };
    let chat = addresses(Wire::OpenAiChat, "http://h/v1/", "a/b");
    assert_eq!(chat[..3], ["http://h/v1/models", "http://h/props", "http://h/api/show"]);
    for (wire, base, address) in [
        (Wire::Anthropic, "http://h", "http://h/v1/models/a%2Fb"),
        (Wire::Anthropic, "http://h/v1", "http://h/v1/models/a%2Fb"),
        (Wire::Gemini, "http://h/v1beta", "http://h/v1beta/models/a%2Fb"),
        (Wire::Ollama, "http://h/api", "http://h/api/show"),
    ] {
        assert_eq!(addresses(wire, base, "a/b"), [address]);
    }
    assert!(addresses(Wire::BedrockConverse, "http://h", "m").is_empty());
    let posted = questions(Wire::Ollama, "http://h", "say \"m\"").remove(0).body;
    assert_eq!(posted.as_deref(), Some(r#"{"model":"say \"m\""}"#));
}

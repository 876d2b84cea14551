//! Tests: lessons from texts of rejections.

use photic::Wire;
use photic::lesson::{Lesson, RejectedRequest, diagnose};
use photic::profile::MediaKind;
use photic::rejection::classify;
use photic_testkit::image;
use serde_json::{Value, json};

fn lessons_after(tries: usize, text: &str, body: &Value) -> Vec<Lesson> {
    let rejection = classify(Some(400), text);
    let wire = if body.get("max_tokens").is_some() { Wire::Anthropic } else { Wire::OpenAiChat };
    let body = body.to_string();
    let request = RejectedRequest { rejection: &rejection, tries, wire, body: body.as_bytes() };
    diagnose(&request, &|payload| *payload.decode() == *image::broken::truncated_png())
}

fn lessons(text: &str, body: &Value) -> Vec<Lesson> {
    lessons_after(0, text, body)
}

fn png(width: u32, height: u32) -> Value {
    let data = image::base64(&image::png(width, height, [1, 2, 3]));
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

fn messages(parts: &[Value]) -> Value {
    json!({"max_tokens": 1, "messages": [{"role": "user", "content": parts}]})
}

#[test]
fn limits_that_are_named_are_obeyed_and_others_guessed() {
    let page = messages(&[png(3000, 10), png(10, 10)]);
    let crowd = "messages.0.content.0.image.source.base64.data: At least one of the image \
                 dimensions exceed max allowed size for many-image requests: 2000 pixels";
    assert_eq!(lessons(crowd, &page), [Lesson::CrowdEdge { most: 2000, above: Some(1) }]);
    let crowded = messages(&vec![png(3000, 10); 21]);
    assert_eq!(lessons(crowd, &crowded), [Lesson::CrowdEdge { most: 2000, above: None }]);
    let plain = crowd.replace(" for many-image requests", "");
    assert_eq!(lessons(&plain, &page), [Lesson::Edge { most: 2000 }]);
    let patches = "Image exceeds the limit of 1536 patches after resizing";
    assert_eq!(lessons(patches, &page), [Lesson::Patches { most: 1536 }]);
    let unnamed = "The image dimensions exceed what is allowed, too large";
    assert_eq!(lessons(unnamed, &page), [Lesson::Edge { most: 2000 }]);
    assert_eq!(lessons_after(1, unnamed, &page), [Lesson::Edge { most: 1024 }]);
    // A limit that no image exceeds is not the one in question.
    let wrong = plain.replace("2000", "8000");
    assert_eq!(lessons(&wrong, &page), [Lesson::Edge { most: 2000 }]);
    let many = messages(&vec![png(10, 10); 9]);
    assert_eq!(lessons("too much media", &many), [Lesson::Images { most: 8 }]);
    assert_eq!(lessons_after(1, "too much media", &many), [Lesson::Images { most: 3 }]);
    let none = "At most 0 image(s) may be provided in one request.";
    assert_eq!(lessons(none, &many), [Lesson::Blind { of: MediaKind::Image }]);
    let overflow = "prompt is too long: 210000 tokens > 200000 maximum";
    assert_eq!(lessons(overflow, &many), [Lesson::ContextTokens { most: 200_000 }]);
}

#[test]
fn kinds_and_places() {
    let data = image::base64(&image::pdf());
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": data});
    let both = messages(&[png(10, 10), json!({"type": "document", "source": source})]);
    let no_documents = "'input_file' is not supported by llamacpp at this moment";
    assert_eq!(lessons(no_documents, &both), [Lesson::Blind { of: MediaKind::Document }]);
    let no_images = "This model does not support image input.";
    assert_eq!(lessons(no_images, &both), [Lesson::Blind { of: MediaKind::Image }]);
    let role = "Image URLs are only allowed for messages with role 'user', but this message with \
                role 'assistant' contains an image URL.";
    let url = image::data_url("image/png", &image::png(10, 10, [1, 2, 3]));
    let part = json!({"type": "image_url", "image_url": {"url": url}});
    let chat = json!({"messages": [
        {"role": "assistant", "content": [part.clone()]}, {"role": "user", "content": [part]}]});
    let expected = Lesson::RoleRefused { role: photic::profile::Role::Assistant };
    assert_eq!(lessons(role, &chat), [expected]);
}

#[test]
fn what_is_broken_is_named_and_what_is_not_is_left_alone() {
    let broken = image::base64(&image::broken::truncated_png());
    let source = json!({"type": "base64", "media_type": "image/png", "data": broken});
    let broken = json!({"type": "image", "source": source});
    let digest = |lessons: &[Lesson]| match lessons {
        [Lesson::Quarantine { digest, .. }] => digest.clone(),
        other => format!("{other:?}"),
    };
    let bytes = image::broken::truncated_png();
    let of_broken = blake3::hash(&bytes).to_hex().to_string();
    let of_good = blake3::hash(&image::png(10, 10, [1, 2, 3])).to_hex().to_string();
    let body = messages(&[broken, png(20, 20), png(10, 10)]);
    // Without a position, the image that cannot be decoded.
    assert_eq!(digest(&lessons("Could not process image", &body)), of_broken);
    // With a position, that image, too: the provider may not decode every image that we can.
    let text = "messages.0.content.2.image.source.base64.data: Could not process image";
    assert_eq!(lessons(text, &body).len(), 2);
    // Without either, the newest.
    let body = messages(&[png(20, 20), png(10, 10)]);
    assert_eq!(digest(&lessons("Could not process image", &body)), of_good);
}

#[test]
fn addresses_that_lead_nowhere() {
    let part = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let chat = json!({"messages": [
        {"role": "user", "content": [part("https://h/a.png"), part("https://h/b.png")]}]});
    let text = "Invalid 'messages[0].content[1].image_url'. Failed to download image from https://h/b.png.";
    let of = |url: &str| Lesson::Quarantine {
        digest: blake3::hash(url.as_bytes()).to_hex().to_string(),
        bytes: url.len() as u64,
    };
    assert_eq!(lessons(text, &chat), [of("https://h/b.png")]);
    let both = [of("https://h/a.png"), of("https://h/b.png")];
    assert_eq!(lessons("Failed to download image.", &chat), both);
}

#[test]
fn nothing_is_learned_from_what_is_not_about_media() {
    let body = messages(&[png(10, 10)]);
    for text in ["", "max_tokens: 99 > 10", "text content blocks must be non-empty", "no"] {
        assert!(lessons(text, &body).is_empty(), "{text}");
    }
    let words = messages(&[json!({"type": "text", "text": "hi"})]);
    assert!(lessons("too much media", &words).is_empty());
}

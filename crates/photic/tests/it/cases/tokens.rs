//! Cases of token estimates.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::profile::Basis;
use photic::retention::Retention;
use photic::{Ledger, Policy, Wire};

/// The bill of a body that stays on its wire.
fn ledger(wire: Wire, model: &str, body: &[u8]) -> Ledger {
    let profile = photic::profile::resolve(wire, Some(model), None);
    let (transcript, _) = photic::lift(wire, body);
    let mut policy = Policy::default();
    policy.retention = Retention::All;
    policy.marks = false;
    let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
    let lowered = photic::lower(&transcript, &plan);
    assert_eq!(lowered.body.to_vec(), body, "{model}: a body that is fine goes out as it came");
    plan.ledger
}

#[test]
fn gpt56_no_detail_4k_costs_what_original_costs() {
    let body = super::body("gpt56_no_detail_4k");
    for model in ["gpt-5.6", "gpt-6"] {
        let ledger = ledger(Wire::OpenAiChat, model, &body);
        assert_eq!((ledger.images, ledger.image_tokens), (1, 9792), "{model}");
    }
}

/// A part that photic writes states a detail, and is priced by it.
#[test]
fn a_written_part_is_priced_by_the_detail_it_states() {
    let body = super::body("gpt56_no_detail_4k");
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let profile = photic::profile::resolve(Wire::OpenAiResponses, Some("gpt-5.6"), None);
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
    let lowered = String::from_utf8(photic::lower(&transcript, &plan).body.to_vec()).unwrap();
    assert!(lowered.contains("\"detail\":\"high\""), "it states a detail");
    assert_eq!(plan.ledger.image_tokens, 2765);
}

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// A request to Gemini with one picture, a resolution of the part and one of the request.
fn gemini(part: Option<&str>, request: Option<&str>) -> Ledger {
    let part = part.map_or(String::new(), |level| {
        format!(",\"mediaResolution\":{{\"level\":\"MEDIA_RESOLUTION_{level}\"}}")
    });
    let request = request.map_or(String::new(), |level| {
        format!(",\"generationConfig\":{{\"mediaResolution\":\"MEDIA_RESOLUTION_{level}\"}}")
    });
    let body = format!(
        "{{\"contents\":[{{\"role\":\"user\",\"parts\":[{{\"inlineData\":{{\"mimeType\":\"image/png\",\
         \"data\":\"{PNG}\"}}{part}}}]}}]{request}}}"
    );
    ledger(Wire::Gemini, "gemini-3.8-pro", body.as_bytes())
}

#[test]
fn gemini_resolutions_of_a_part_and_of_the_request() {
    for (part, request, tokens) in [
        (None, None, 1120),
        (None, Some("LOW"), 280),
        (None, Some("MEDIUM"), 560),
        (None, Some("HIGH"), 1120),
        (Some("MEDIUM"), None, 560),
        (Some("LOW"), Some("HIGH"), 280),
        (Some("ULTRA_HIGH"), Some("LOW"), 2240),
    ] {
        assert_eq!(gemini(part, request).image_tokens, tokens, "{part:?} {request:?}");
    }
}

/// A PDF of so many pages whose objects are in the open.
fn pdf(pages: usize) -> String {
    let page = |number: usize| format!("{number} 0 obj <</Type /Page /Parent 1 0 R>> endobj\n");
    let pages: String = (2..pages + 2).map(page).collect();
    STANDARD.encode(format!("%PDF-1.4\n{pages}%%EOF\n"))
}

fn claude(data: &str) -> Ledger {
    let body = format!(
        "{{\"model\":\"claude-opus-5\",\"max_tokens\":9,\"messages\":[{{\"role\":\"user\",\"content\":[\
         {{\"type\":\"document\",\"source\":{{\"type\":\"base64\",\"media_type\":\"application/pdf\",\
         \"data\":\"{data}\"}}}},{{\"type\":\"text\",\"text\":\"read it\"}}]}}]}}"
    );
    ledger(Wire::Anthropic, "claude-opus-5", body.as_bytes())
}

#[test]
fn documents_are_reckoned_by_page_or_unknown() {
    let three = claude(&pdf(3));
    assert_eq!((three.documents, three.document_tokens), (1, 3 * 3800));
    assert_eq!(three.basis, Basis::Assumed);
    assert!(three.tokens > three.document_tokens);
    let closed = "%PDF-1.7\n1 0 obj <</Type /ObjStm /N 40>> stream";
    let closed = claude(&STANDARD.encode(closed));
    assert!(closed.document_tokens > 0);
    assert_eq!(closed.basis, Basis::Unknown);
    // No rate is published for this provider.
    let body = format!(
        "{{\"model\":\"gpt-5.6\",\"input\":[{{\"role\":\"user\",\"content\":[{{\"type\":\"input_file\",\
         \"filename\":\"a.pdf\",\"file_data\":\"data:application/pdf;base64,{}\"}}]}}]}}",
        pdf(2)
    );
    let openai = ledger(Wire::OpenAiResponses, "gpt-5.6", body.as_bytes());
    assert!(openai.document_tokens > 0);
    assert_eq!(openai.basis, Basis::Unknown);
}

/// The endpoint takes 100 pages in a request: what is past them would be refused.
#[test]
fn no_more_pages_than_the_endpoint_takes() {
    let document = |pages: usize| {
        format!(
            "{{\"type\":\"document\",\"source\":{{\"type\":\"base64\",\"media_type\":\"application/pdf\",\
             \"data\":\"{}\"}}}}",
            pdf(pages)
        )
    };
    let body = format!(
        "{{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":9,\"messages\":[{{\"role\":\"user\",\
         \"content\":[{},{}]}}]}}",
        document(90),
        document(60)
    );
    let profile = photic::profile::resolve(Wire::Anthropic, Some("claude-sonnet-4-5"), None);
    assert_eq!(profile.limits.document_pages, Some(100));
    let (transcript, _) = photic::lift(Wire::Anthropic, body.as_bytes());
    let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
    let shown: Vec<bool> = plan.fates.iter().map(|fate| fate.is_shown()).collect();
    assert_eq!(shown, [false, true]);
}

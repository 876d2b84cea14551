//! Plans a request stage by stage and explains the fate of every image, for two models.
//!
//! `cargo run -p photic --example plan_and_explain`

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use photic::{Policy, Wire, profile};

/// One gray pixel as PNG, in base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn main() {
    let body = format!(
        r#"{{"messages":[
  {{"role":"user","content":[{{"type":"text","text":"Compare."}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{PNG}"}}}}]}},
  {{"role":"assistant","tool_calls":[{{"id":"c","type":"function","function":{{"name":"screenshot","arguments":"{{}}"}}}}]}},
  {{"role":"tool","tool_call_id":"c","content":[{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{PNG}"}}}}]}}]}}"#
    );
    let (transcript, _) = photic::lift(Wire::OpenAiChat, body.as_bytes());
    for (wire, model) in [(Wire::OpenAiChat, "gpt-4o"), (Wire::Anthropic, "claude-sonnet-4-5")] {
        let profile = profile::resolve(wire, Some(model), None);
        let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
        println!("{model} on {wire} (profile `{}`)", profile.id);
        for (sighting, fate) in plan.survey.sightings.iter().zip(&plan.fates) {
            let shown = if fate.is_shown() { "shown" } else { "not shown" };
            println!(
                "  image in message {}: {shown}, {fate:?}: {}",
                sighting.message,
                fate.reason().says()
            );
        }
        println!("  about {} tokens of images", plan.ledger.image_tokens);
        for decision in photic::lower(&transcript, &plan).decisions {
            println!("  lowering: {}", decision.did.says());
        }
    }
}

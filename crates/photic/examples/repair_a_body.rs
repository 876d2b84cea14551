//! Repairs a Chat Completions request whose tool returned an image as text.
//!
//! `cargo run -p photic --example repair_a_body`

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use photic::RepairOptions;

/// One gray pixel as PNG, in base64. Real screenshots are larger and look the same from here.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn main() {
    let body = format!(
        r#"{{"model":"gpt-4o","messages":[
  {{"role":"user","content":"What does the page look like?"}},
  {{"role":"assistant","tool_calls":[{{"id":"c","type":"function","function":{{"name":"screenshot","arguments":"{{}}"}}}}]}},
  {{"role":"tool","tool_call_id":"c","content":"data:image/png;base64,{PNG}"}}]}}"#
    );
    let repaired = photic::repair(body.as_bytes(), &RepairOptions::default());
    for finding in &repaired.findings {
        println!("found    {}: {}", finding.at, finding.code.says());
    }
    for decision in &repaired.decisions {
        println!("repaired {}", decision.did.says());
    }
    println!("\n{}", String::from_utf8_lossy(&repaired.body));
}

#![no_main]

use libfuzzer_sys::fuzz_target;
use photic::{Stream, Wire};
use serde::de::IgnoredAny;

fuzz_target!(|body: &[u8]| {
    for from in Wire::ALL {
        for to in Wire::ALL {
            let whole = convert(from, to, body, usize::MAX);
            // However the network cuts it.
            assert!(whole == convert(from, to, body, 7), "{from} → {to}");
            if to == Wire::BedrockConverse {
                // Frames are no text; whoever reads them must come to the same end.
                convert(to, Wire::OpenAiChat, &whole, 7);
                continue;
            }
            let Ok(text) = std::str::from_utf8(&whole) else { panic!("{from} → {to}: no text") };
            let before = if to == Wire::Ollama { "" } else { "data: " };
            for data in text.lines().filter_map(|line| line.strip_prefix(before)) {
                let parsed = serde_json::from_str::<IgnoredAny>(data);
                assert!(parsed.is_ok() || data == "[DONE]", "{from} → {to}: {data}");
            }
        }
    }
});

fn convert(from: Wire, to: Wire, body: &[u8], chunk: usize) -> Vec<u8> {
    let mut way = Stream::with_usage(from, to);
    let mut out: Vec<u8> = body.chunks(chunk).flat_map(|bytes| way.feed(bytes)).collect();
    out.extend(way.finish());
    assert!(way.is_over());
    out
}

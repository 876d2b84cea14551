//! Translates a streamed reply of Anthropic Messages for a client of Chat Completions, chunk by chunk.
//!
//! `cargo run -p photic --example stream_across_wires`

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use photic::{Stream, Wire};

const EVENTS: [&str; 5] = [
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m\",\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"A red square.\"}}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
];

fn main() {
    let mut stream = Stream::with_usage(Wire::Anthropic, Wire::OpenAiChat);
    for event in EVENTS {
        print!("{}", String::from_utf8_lossy(&stream.feed(event.as_bytes())));
    }
    print!("{}", String::from_utf8_lossy(&stream.finish()));
}

//! A request that is read without its known messages gives what the whole request gives.
//!
//! Sessions are drawn at random, with everything that keeps a request from going out as it came:
//! edits, branches, retries, summaries, repeated ids, calls without results, pictures where they
//! belong and where they do not, and several sessions at once. Each request is read whole, and also
//! with what is known of the ones before.

use photic::{
    Decision, Finding, KnownPrefix, Lowered, Policy, Profile, ReadRequest, SurveyedMessages, Wire,
};
use photic_testkit::SplitMix64;
use serde_json::{Value, json};

/// Sessions of each wire.
const SESSIONS: u64 = 50;
const TURNS: usize = 100;

/// The wires whose requests are shortened, each with models that differ in their rules.
const SUBJECTS: [(Wire, [&str; 3]); 4] = [
    (Wire::OpenAiChat, ["gpt-4o", "mistral-large-latest", "deepseek-chat"]),
    (Wire::OpenAiResponses, ["gpt-5.6", "gpt-4o", "unheard-of"]),
    (Wire::Anthropic, ["claude-opus-5", "claude-sonnet-4-5", "unheard-of"]),
    (Wire::BedrockConverse, ["anthropic.claude-opus-5", "amazon.nova-pro-v1:0", "unheard-of"]),
];

/// A picture in base64, as programs print it.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn a_shortened_request_gives_what_the_whole_one_gives() {
    for (wire, models) in SUBJECTS {
        let mut tally = Tally::default();
        for seed in 0..SESSIONS {
            let mut random = SplitMix64::of_pair(seed, wire as u64);
            let model = models[random.below(models.len())];
            let mut profile = photic::profile::resolve(wire, Some(model), None);
            // Some endpoints take so little that a session comes to a limit.
            let limits = &mut profile.limits;
            match random.below(8) {
                0 => limits.images = Some(3),
                1 => limits.context_tokens = Some(4_000),
                2 => limits.request_bytes = Some(16_000),
                _ => {}
            }
            Sessions::new(wire, random, profile).run(&mut tally);
        }
        println!("{wire}: {tally:?}");
        assert!(tally.hits > 300 && tally.refused > 100, "{wire}: {tally:?}");
        assert!(tally.surveyed > 150, "{wire}: {tally:?}");
        assert!(tally.with_media > 100 && tally.repaired > 20, "{wire}: {tally:?}");
    }
}

#[test]
fn of_a_session_of_words_only_what_is_new_is_read() {
    for (wire, models) in SUBJECTS {
        let profile = photic::profile::resolve(wire, Some(models[0]), None);
        let mut session = Sessions::new(wire, SplitMix64::new(1), profile);
        let mut tally = Tally::default();
        for turn in 0..300 {
            let id = session.id(false);
            let words = format!("I have read file {turn}, and the next one is much the same. ");
            let mut steps = session.calls(&words.repeat(4), &[Some(&id)]);
            steps.append(&mut session.results(&[(id, "fn main() {}\n".repeat(30))]));
            session.talks[0].append(&mut steps);
            let body = session.body(0);
            tally.sent += body.len();
            session.request(&body, &mut tally);
        }
        println!("{wire}: {tally:?}");
        assert!(tally.misses < 8 && tally.refused == 0, "{wire}: {tally:?}");
        assert!(tally.read * 30 < tally.sent, "{wire}: {tally:?}");
    }
}

/// The sums over all sessions of a wire.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Requests that were read shortened.
    hits: usize,
    /// Requests without a known beginning.
    misses: usize,
    /// Requests that were shortened and had to be read whole all the same.
    refused: usize,
    /// Shortened requests whose survey was completed.
    surveyed: usize,
    /// Shortened requests with media.
    with_media: usize,
    /// Shortened requests of which something was repaired.
    repaired: usize,
    /// Bytes of all requests.
    sent: usize,
    /// Bytes that were read.
    read: usize,
}

/// A request as it is sent, and what is said about it.
#[derive(Debug, PartialEq)]
struct Sent {
    body: String,
    decisions: Vec<Decision>,
    findings: Vec<Finding>,
    tokens: u64,
}

impl Sent {
    fn of(lowered: &Lowered<'_>, findings: &[Finding], tokens: u64) -> Self {
        let body = String::from_utf8(lowered.body.to_vec()).unwrap();
        let decisions = lowered.decisions.clone();
        Self { body, decisions, findings: findings.to_vec(), tokens }
    }
}

/// Conversations of one caller that share what is known.
struct Sessions {
    wire: Wire,
    random: SplitMix64,
    profile: Profile,
    talks: Vec<Vec<Value>>,
    known: Vec<(KnownPrefix, SurveyedMessages)>,
    next_id: usize,
    /// Set if the settings come behind the messages.
    settings_last: bool,
    /// Set if the last messages carry prompt cache breakpoints.
    marks: bool,
    /// Set if the provider is asked to remove things by itself, as Claude Code asks.
    manages: bool,
}

impl Sessions {
    fn new(wire: Wire, mut random: SplitMix64, profile: Profile) -> Self {
        let (settings_last, marks) = (random.below(2) == 0, random.below(2) == 0);
        let manages = random.below(2) == 0;
        let mut this = Self {
            wire,
            random,
            profile,
            talks: Vec::new(),
            known: Vec::new(),
            next_id: 0,
            settings_last,
            marks: marks && wire == Wire::Anthropic,
            manages,
        };
        for talk in 0..=this.random.below(3) {
            // Two conversations may open with the same words.
            let words = format!("Question {}. {}", talk / 2, "Please look into it. ".repeat(20));
            let opening = vec![this.said("user", &words)];
            this.talks.push(opening);
        }
        this
    }

    fn run(mut self, tally: &mut Tally) {
        for _ in 0..TURNS {
            let talk = self.random.below(self.talks.len());
            self.go_on(talk);
            let body = self.body(talk);
            tally.sent += body.len();
            self.request(&body, tally);
        }
    }

    /// Reads one request both ways.
    fn request(&mut self, body: &[u8], tally: &mut Tally) {
        let left_out = self.known.iter().enumerate();
        let left_out =
            left_out.filter_map(|(index, (known, _))| Some((index, known.left_out_of(body)?)));
        let most = left_out.max_by_key(|(_, left_out)| left_out.bytes());
        let shortened = most.map(|(index, left_out)| (index, left_out.cut_out_of(body)));
        let whole = read(self.wire, body, &self.profile, |read| {
            let result = Sent::of(read.lowered, read.findings, read.plan.ledger.tokens);
            let surveyed = SurveyedMessages::of(&read.plan.survey);
            let ledger = read.plan.ledger.clone();
            let has_media = !read.transcript.media.is_empty();
            (KnownPrefix::of(&read), result, has_media, surveyed, ledger)
        });
        if let Some((index, shortened)) = shortened {
            let (known, surveyed) = self.known[index].clone();
            let mut extended = known.clone();
            let short = read(self.wire, &shortened.body, &self.profile, |read| {
                extended.extend(body, &shortened, &read).then(|| {
                    // A whole plan follows from the survey of what was read.
                    let left_out = shortened.left_out();
                    let surveyed = surveyed.extended(&read.plan.survey, left_out);
                    if let Some(surveyed) = &surveyed {
                        assert_eq!(*surveyed, whole.3, "{}", String::from_utf8_lossy(body));
                        let mut survey = photic::survey(read.transcript);
                        surveyed.put_into(&mut survey, left_out);
                        let plan = photic::plan(survey, &self.profile, read.policy);
                        assert_eq!(plan.ledger, whole.4, "{}", String::from_utf8_lossy(body));
                    }
                    let (lowered, findings) = shortened.put_back(&read, body);
                    let sent = Sent::of(&lowered, &findings, shortened.tokens(&read));
                    (sent, surveyed.is_some())
                })
            });
            tally.read += shortened.body.len();
            if let Some((short, is_surveyed)) = short {
                tally.hits += 1;
                tally.surveyed += usize::from(is_surveyed);
                tally.with_media += usize::from(whole.2);
                tally.repaired += usize::from(!short.decisions.is_empty());
                let text = String::from_utf8_lossy(body);
                let short_text = String::from_utf8_lossy(&shortened.body);
                assert_eq!(short, whole.1, "{text}\n\n{short_text}");
                assert!(whole.0.is_some_and(|prefix| prefix == extended), "{text}");
                let extended = (extended, whole.3);
                if known.abandoned_turns(&shortened) > 2 {
                    self.known.push(extended);
                } else {
                    self.known[index] = extended;
                }
                return;
            }
            assert!(extended == known);
            tally.refused += 1;
        } else {
            tally.misses += 1;
        }
        tally.read += body.len();
        self.known.extend(whole.0.map(|prefix| (prefix, whole.3)));
    }

    /// Adds messages to a conversation, or changes it.
    fn go_on(&mut self, talk: usize) {
        // The same request again.
        if self.random.below(50) == 0 {
            return;
        }
        let length = self.talks[talk].len();
        match self.random.below(100) {
            // An earlier point, from which the conversation goes on in another way.
            1 => {
                let keep = 1 + self.random.below(length);
                self.talks[talk].truncate(keep);
                let again = self.said("user", "No, in another way.");
                self.talks[talk].push(again);
            }
            // An edit.
            2 => {
                let at = self.random.below(length);
                self.talks[talk][at] = self.said("user", "Something else.");
            }
            // A summary.
            3..7 => {
                self.talks[talk].truncate(1);
                let summary = self.said("user", "A summary of what was said so far.");
                self.talks[talk].push(summary);
            }
            // A branch.
            7 => {
                let other = self.random.below(self.talks.len());
                self.talks[talk] = self.talks[other].clone();
            }
            8 => {
                let system = if self.wire == Wire::OpenAiChat { "system" } else { "user" };
                let message = self.said(system, "Be brief from here on.");
                self.talks[talk].push(message);
            }
            _ => {}
        }
        for _ in 0..=self.random.below(2) {
            let mut steps = self.assistant_turn();
            self.talks[talk].append(&mut steps);
        }
    }

    /// Draws a turn of the assistant, and what follows it.
    fn assistant_turn(&mut self) -> Vec<Value> {
        let words = "I have looked at that file, and at the one beside it. ".repeat(4);
        // A few turns in a hundred leave something that is repaired in every later request.
        let kind = if self.random.below(60) == 0 {
            34 + self.random.below(6)
        } else {
            self.random.below(34)
        };
        if kind < 15 {
            let mut steps = vec![self.said("assistant", &words)];
            steps.push(self.said("user", "Go on, and tell me about the next one."));
            match kind {
                0 => steps.push(self.said("user", "And hurry.")),
                1 if self.random.below(4) == 0 => steps.push(self.showed()),
                _ => {}
            }
            return steps;
        }
        let id = self.id(kind == 39);
        let second = (kind % 5 == 0).then(|| self.id(false));
        let mut steps = self.calls(&words, &[Some(&id), second.as_ref()]);
        let output = match kind {
            38 => format!("data:image/png;base64,{PICTURE}"),
            37 => String::new(),
            _ => "fn main() {}\n".repeat(20),
        };
        let mut answered = vec![(id, output)];
        answered.extend(second.map(|id| (id, "done".to_owned())));
        match kind {
            // No result, or one of a call that was never made.
            36 => answered.clear(),
            35 => answered.push(("never_made".to_owned(), "odd".to_owned())),
            _ => {}
        }
        steps.extend(self.results(&answered));
        // Now and then the result comes late.
        if kind == 34 {
            let late = steps.pop();
            steps.push(self.said("assistant", "Wait."));
            steps.extend(late);
        }
        steps
    }

    fn id(&mut self, old: bool) -> String {
        if !old {
            self.next_id += 1;
        }
        let number = if old { self.next_id / 2 } else { self.next_id };
        // Nine letters or digits, which every endpoint takes.
        format!("call{number:05}")
    }

    fn said(&self, role: &str, words: &str) -> Value {
        match self.wire {
            Wire::BedrockConverse => json!({"role": role, "content": [{"text": words}]}),
            Wire::Anthropic => json!({"role": role, "content": [{"type": "text", "text": words}]}),
            _ => json!({"role": role, "content": words}),
        }
    }

    /// Returns a message of the user with a picture.
    fn showed(&self) -> Value {
        let data = PICTURE;
        let url = format!("data:image/png;base64,{data}");
        let content = match self.wire {
            Wire::OpenAiChat => json!([{"type": "image_url", "image_url": {"url": url}}]),
            Wire::OpenAiResponses => json!([{"type": "input_image", "image_url": url}]),
            Wire::Anthropic => json!([{"type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": data}}]),
            _ => {
                json!([{"text": "This:"}, {"image": {"format": "png", "source": {"bytes": data}}}])
            }
        };
        json!({"role": "user", "content": content})
    }

    fn calls(&self, words: &str, ids: &[Option<&String>]) -> Vec<Value> {
        let ids = ids.iter().flatten();
        match self.wire {
            Wire::OpenAiChat => {
                let calls: Vec<Value> = ids
                    .map(|id| {
                        json!({"id": id, "type": "function",
                            "function": {"name": "look", "arguments": "{\"at\":\"a.rs\"}"}})
                    })
                    .collect();
                vec![json!({"role": "assistant", "content": words, "tool_calls": calls})]
            }
            Wire::OpenAiResponses => ids
                .map(|id| {
                    json!({"type": "function_call", "call_id": id, "name": "look",
                        "arguments": "{\"at\":\"a.rs\"}"})
                })
                .collect(),
            Wire::Anthropic => {
                let text = [json!({"type": "text", "text": words})];
                let calls = ids.map(|id| {
                    json!({"type": "tool_use", "id": id, "name": "look", "input": {"at": "a.rs"}})
                });
                let content: Vec<Value> = text.into_iter().chain(calls).collect();
                vec![json!({"role": "assistant", "content": content})]
            }
            Wire::BedrockConverse => {
                let content: Vec<Value> = ids
                    .map(|id| json!({"toolUse": {"toolUseId": id, "name": "look", "input": {}}}))
                    .collect();
                vec![json!({"role": "assistant", "content": content})]
            }
            other => unreachable!("{other} is not among the subjects"),
        }
    }

    fn results(&self, answered: &[(String, String)]) -> Vec<Value> {
        let nested = |content: Vec<Value>| {
            if content.is_empty() {
                vec![self.said("user", "Never mind.")]
            } else {
                vec![json!({"role": "user", "content": content})]
            }
        };
        match self.wire {
            Wire::OpenAiChat => answered
                .iter()
                .map(|(id, out)| json!({"role": "tool", "tool_call_id": id, "content": out}))
                .collect(),
            Wire::OpenAiResponses => answered
                .iter()
                .map(|(id, out)| {
                    json!({"type": "function_call_output", "call_id": id, "output": out})
                })
                .collect(),
            Wire::Anthropic => nested(
                answered
                    .iter()
                    .map(|(id, out)| {
                        json!({"type": "tool_result", "tool_use_id": id, "content": out})
                    })
                    .collect(),
            ),
            Wire::BedrockConverse => nested(
                answered
                    .iter()
                    .map(|(id, out)| {
                        json!({"toolResult": {"toolUseId": id, "content": [{"text": out}]}})
                    })
                    .collect(),
            ),
            other => unreachable!("{other} is not among the subjects"),
        }
    }

    fn body(&self, talk: usize) -> Vec<u8> {
        let mut messages = self.talks[talk].clone();
        if self.marks {
            for message in messages.iter_mut().rev().take(2) {
                if let Some(block) =
                    message["content"].as_array_mut().and_then(|all| all.last_mut())
                {
                    block["cache_control"] = json!({"type": "ephemeral"});
                }
            }
        }
        let list = if self.wire == Wire::OpenAiResponses { "input" } else { "messages" };
        let messages = serde_json::to_string(&messages).unwrap();
        let settings = match self.wire {
            Wire::BedrockConverse => r#""inferenceConfig":{"maxTokens":900}"#,
            Wire::Anthropic => {
                r#""model":"m","max_tokens":900,"system":"You are a careful agent.""#
            }
            _ => r#""model":"m","temperature":0.5"#,
        };
        let management = match self.wire {
            Wire::Anthropic if self.manages => {
                r#","context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}"#
            }
            Wire::OpenAiResponses if self.manages => {
                r#","context_management":[{"type":"compaction","compact_threshold":200000}]"#
            }
            _ => "",
        };
        let body = if self.settings_last {
            format!(r#"{{"{list}":{messages},{settings}{management}}}"#)
        } else {
            format!(r#"{{{settings}{management}, "{list}": {messages} }}"#)
        };
        body.into_bytes()
    }
}

/// Reads, plans and lowers a request for its own wire.
fn read<T>(
    wire: Wire,
    body: &[u8],
    profile: &Profile,
    then: impl FnOnce(ReadRequest<'_>) -> T,
) -> T {
    let policy = Policy::default();
    let (transcript, findings) = photic::lift(wire, body);
    let plan = photic::plan(photic::survey(&transcript), profile, &policy);
    let lowered = photic::lower(&transcript, &plan);
    then(ReadRequest {
        transcript: &transcript,
        findings: &findings,
        policy: &policy,
        plan: &plan,
        lowered: &lowered,
    })
}

/// Returns what is known of a request.
fn prefix_of(wire: Wire, body: &[u8]) -> Option<KnownPrefix> {
    read(wire, body, &Profile::generic(wire), |read| KnownPrefix::of(&read))
}

#[test]
fn wires_that_count_calls_are_read_whole() {
    let words = "words ".repeat(400);
    let talk = json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": words},
        {"role": "user", "content": "?"}]);
    let body = json!({"model": "m", "messages": talk}).to_string();
    assert!(prefix_of(Wire::OpenAiChat, body.as_bytes()).is_some());
    assert!(prefix_of(Wire::Ollama, body.as_bytes()).is_none());
    let parts = json!([{"text": words}]);
    let contents = json!([{"role": "user", "parts": parts}, {"role": "model", "parts": parts}]);
    let body = json!({"contents": contents}).to_string();
    assert!(prefix_of(Wire::Gemini, body.as_bytes()).is_none());
}

#[test]
fn a_beginning_that_differs_is_not_used() {
    let words = "words and words ".repeat(200);
    let body = |last: &str| {
        let talk = json!([{"role": "user", "content": "?"},
            {"role": "assistant", "content": words}, {"role": "user", "content": "?"},
            {"role": "assistant", "content": last}, {"role": "user", "content": "?"}]);
        json!({"messages": talk, "model": "m"}).to_string().into_bytes()
    };
    let prefix = prefix_of(Wire::OpenAiChat, &body("a")).unwrap();
    assert_eq!(prefix.opening(), br#"{"messages":[{"role":"user","content":"?"}"#);
    // It is cut back to the last turn that is the same.
    assert!(prefix.shorten(&body("b")).is_some_and(|short| short.body.len() < 200));
    let mut other = body("a");
    other[60] = b'!';
    assert!(prefix.shorten(&other).is_none());
    assert!(prefix.shorten(b"").is_none() && prefix.shorten(prefix.opening()).is_none());
    let cut = body("a");
    for end in 0..cut.len() {
        // A request that breaks off is read whole.
        if let Some(short) = prefix.shorten(&cut[..end]) {
            let (transcript, _) = photic::lift(Wire::OpenAiChat, &short.body);
            assert!(!transcript.is_readable(), "{end}");
        }
    }
}

//! `inspect` against the strict test provider, which knows charts only from the pixels it decodes.

use std::io::Read as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use photic::Wire;
use photic_mock::{Chart, Misbehavior, Mock, Options};
use photic_net::{Client, Timeouts};
use photic_tools::RefusalCode::{
    BadArguments, CannotFit, Corrupt, NoAnswer, RequestAborted, RequestFailed,
};
use photic_tools::{Answer, Key, Model, Refusal, Step, Tools, UNTRUSTED, VisionModels};

use crate::world::{MemoryStore, World, asking, code, picture, wait};

pub(crate) const QUESTION: &str = "which colors are there?";

/// Each wire with a model.
pub(crate) const WIRES: [(Wire, &str); 6] = [
    (Wire::OpenAiChat, "gpt-4o"),
    (Wire::OpenAiResponses, "gpt-5.4"),
    (Wire::Anthropic, "claude-sonnet-5"),
    (Wire::Gemini, "gemini-3-pro-preview"),
    (Wire::BedrockConverse, "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    (Wire::Ollama, "qwen3-vl:8b"),
];

pub(crate) fn model(mock: &Mock, wire: Wire, id: &str) -> Model {
    let base = match wire {
        Wire::Anthropic | Wire::Gemini | Wire::BedrockConverse | Wire::Ollama => mock.url(),
        Wire::OpenAiChat | Wire::OpenAiResponses => format!("{}/v1", mock.url()),
        _ => unreachable!("only the six wires are tested here"),
    };
    Model::new("mock", id, wire, &base, Key::Given("sk-secret-key".to_owned()))
}

pub(crate) fn vision_models(models: Vec<Model>) -> VisionModels {
    VisionModels::new(Client::new(Timeouts::default()), models)
}

pub(crate) fn tools(world: &World, eyes: VisionModels) -> Tools {
    Tools::builder().root(world.root()).vision_models(eyes).build().unwrap()
}

pub(crate) fn mock() -> Mock {
    Mock::start(Options::default()).unwrap()
}

pub(crate) fn misbehaving(kind: Misbehavior) -> Mock {
    Mock::start(Options { misbehave: vec![kind], ..Options::default() }).unwrap()
}

/// Asks a misbehaving provider about a chart.
pub(crate) fn asked(mock: &Mock) -> Result<Answer, Refusal> {
    let world = World::new();
    world.write("chart.png", Chart::of(7).png().unwrap());
    let tools = tools(&world, vision_models(vec![model(mock, Wire::OpenAiChat, "gpt-4o")]));
    wait(tools.inspect(&asking("chart.png", QUESTION)))
}

#[test]
fn every_wire_sees_the_pixels() {
    let world = World::new();
    let mock = mock();
    for (index, (wire, id)) in WIRES.into_iter().enumerate() {
        let chart = Chart::of(40 + index as u64);
        world.write("chart.png", chart.png().unwrap());
        let tools = tools(&world, vision_models(vec![model(&mock, wire, id)]));
        let answer = wait(tools.inspect(&asking("chart.png", QUESTION))).unwrap();
        assert!(answer.text.contains(&chart.words()), "{wire}: {}", answer.text);
        assert_eq!((answer.model, answer.cached), (format!("mock/{id}"), false));
        let entry = mock.journal().pop().unwrap();
        assert_eq!((entry.status, entry.images.len()), (200, 1), "{:?}", entry.violations);
        assert_eq!(entry.images[0].slot, "user");
        assert!(!entry.stream);
    }
}

#[test]
fn an_answer_is_marked_second_hand_and_untrusted() {
    let answer = asked(&mock()).unwrap();
    assert_eq!(answer.notice, UNTRUSTED);
    let marked = answer.marked();
    assert!(marked.starts_with("[Second-hand:") && marked.ends_with(&answer.text), "{marked}");
    assert!(marked.contains("not instructions"));
    let json = serde_json::to_value(&answer).unwrap();
    assert_eq!(json["notice"], UNTRUSTED);
}

#[test]
fn the_same_question_is_not_paid_for_twice() {
    let world = World::new();
    let mock = mock();
    let store = MemoryStore::new();
    let models = || vec![model(&mock, Wire::OpenAiChat, "gpt-4o")];
    let stored = || {
        let builder = Tools::builder().root(world.root()).vision_models(vision_models(models()));
        builder.originals(Arc::clone(&store) as _).build().unwrap()
    };
    world.write("chart.png", Chart::of(7).png().unwrap());
    for tools in [tools(&world, vision_models(models())), stored()] {
        let before = mock.journal().len();
        let ask =
            |source: &str, question: &str| wait(tools.inspect(&asking(source, question))).unwrap();
        let first = ask("chart.png", QUESTION);
        let again = ask("chart.png", QUESTION);
        assert_eq!((first.cached, again.cached), (false, true));
        assert_eq!((&first.text, &first.media_type), (&again.text, &again.media_type));
        assert_eq!(mock.journal().len(), before + 1);
        // Another name for one picture.
        world.write("copy.png", Chart::of(7).png().unwrap());
        assert!(ask("copy.png", QUESTION).cached);
        assert!(!ask("chart.png", "and which shapes?").cached);
        // One name for another picture.
        world.write("copy.png", Chart::of(8).png().unwrap());
        let other = ask("copy.png", QUESTION);
        assert!(!other.cached && other.text.contains(&Chart::of(8).words()));
    }
    // A later process finds it in the store.
    assert!(wait(stored().inspect(&asking("chart.png", QUESTION))).unwrap().cached);
    let another = vec![model(&mock, Wire::OpenAiChat, "gpt-4.1")];
    let tools = Tools::builder().root(world.root()).vision_models(vision_models(another));
    let tools = tools.originals(Arc::clone(&store) as _).build().unwrap();
    assert!(!wait(tools.inspect(&asking("chart.png", QUESTION))).unwrap().cached, "another model");
}

#[test]
fn a_failure_is_a_refusal_and_is_not_remembered() {
    for (kind, expected) in [
        (Misbehavior::RateLimit, RequestFailed),
        (Misbehavior::ServerError, RequestFailed),
        (Misbehavior::Close, RequestAborted),
        (Misbehavior::Cut, RequestAborted),
        (Misbehavior::Empty, NoAnswer),
    ] {
        let mock = misbehaving(kind);
        let refusal = asked(&mock).unwrap_err();
        assert_eq!(refusal.code, expected, "{kind}: {refusal:?}");
        assert!(!format!("{refusal:?}").contains("sk-secret-key"));
    }
}

#[test]
fn nobody_listening_is_a_refusal() {
    let world = World::new();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let base = format!("http://{address}/v1");
    let model = Model::new("gone", "gpt-4o", Wire::OpenAiChat, &base, Key::Open);
    let tools = tools(&world, vision_models(vec![model]));
    let refusal = wait(tools.inspect(&asking("picture.png", QUESTION))).unwrap_err();
    assert_eq!(refusal.code, RequestFailed);
    assert!(refusal.says.contains("cannot connect"), "{}", refusal.says);
}

/// A server that answers every request with one reply.
fn canned(status: &'static str, body: String) -> SocketAddr {
    use std::io::Write as _;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
            let _ = socket.read_to_end(&mut Vec::new());
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ =
                socket.write_all(head.as_bytes()).and_then(|()| socket.write_all(body.as_bytes()));
        }
    });
    address
}

pub(crate) fn answered(wire: Wire, status: &'static str, body: String) -> Result<Answer, Refusal> {
    let world = World::new();
    let base = format!("http://{}/v1", canned(status, body));
    let key = Key::Given("sk-secret-key".to_owned());
    let id = if wire == Wire::Anthropic { "claude-sonnet-5" } else { "gpt-4o" };
    let tools = tools(&world, vision_models(vec![Model::new("canned", id, wire, &base, key)]));
    wait(tools.inspect(&asking("picture.png", QUESTION)))
}

#[test]
fn what_a_provider_repeats_of_the_key_or_the_picture_is_not_passed_on() {
    let picture = "iVBORw0KGgo".repeat(2000);
    let message = format!("Incorrect API key provided: sk-secret-key, in data:{picture} sorry");
    let body = serde_json::json!({ "error": { "message": message } }).to_string();
    let refusal = answered(Wire::OpenAiChat, "401 Unauthorized", body).unwrap_err();
    assert_eq!(refusal.code, RequestFailed);
    let told = format!("{refusal:?}");
    assert!(!told.contains("sk-secret-key") && !told.contains("iVBOR"), "{told}");
    assert!(refusal.says.contains("Incorrect API key provided: [key]"), "{}", refusal.says);
}

#[test]
fn a_picture_that_cannot_be_made_small_is_not_sent_as_it_is() {
    let world = World::new();
    let mock = mock();
    world.write("torn.png", &picture(640, 480)[..200]);
    let tools = tools(&world, vision_models(vec![model(&mock, Wire::OpenAiChat, "gpt-4o")]));
    assert_eq!(code(wait(tools.inspect(&asking("torn.png", QUESTION)))), Corrupt);
    assert!(mock.journal().is_empty());
}

#[test]
fn a_picture_that_the_model_would_reject_is_not_sent() {
    let world = World::new();
    let mock = mock();
    let mut strict = model(&mock, Wire::OpenAiChat, "gpt-4o");
    strict.profile.limits.image_raw_bytes = Some(200);
    let mut eyes = vision_models(vec![strict]);
    eyes.auto_resize = false;
    let tools = tools(&world, eyes);
    assert_eq!(code(wait(tools.inspect(&asking("picture.png", QUESTION)))), CannotFit);
    assert!(mock.journal().is_empty());
}

#[test]
fn a_question_is_wanted_and_steps_are_told() {
    let world = World::new();
    let mock = mock();
    let tools = tools(&world, vision_models(vec![model(&mock, Wire::OpenAiChat, "gpt-4o")]));
    assert_eq!(code(wait(tools.inspect(&asking("picture.png", " \n")))), BadArguments);
    let told = Mutex::new(Vec::new());
    let tell = |step| told.lock().unwrap().push(step);
    wait(tools.inspect_telling(&asking("picture.png", QUESTION), &tell)).unwrap();
    let asking = Step::Asking { model: "mock/gpt-4o".to_owned() };
    assert_eq!(*told.lock().unwrap(), [Step::Preparing, asking]);
}

/// Dropping the future closes the connection to the provider.
#[test]
fn cancelling_ends_the_request() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let (arrived, has_arrived) = mpsc::channel();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.read_exact(&mut [0; 16]).unwrap();
        arrived.send(()).unwrap();
        // Ends when the client disconnects; a timeout would be an error.
        socket.read_to_end(&mut Vec::new()).map(|_| ()).or_else(|error| {
            (error.kind() == std::io::ErrorKind::ConnectionReset).then_some(()).ok_or(error)
        })
    });
    let model = Model::new("slow", "gpt-4o", Wire::OpenAiChat, &base, Key::Open);
    let tools = tools(&world, vision_models(vec![model]));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let task = runtime.spawn(async move { tools.inspect(&asking("picture.png", QUESTION)).await });
    has_arrived.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(!server.is_finished());
    task.abort();
    server.join().unwrap().unwrap();
}

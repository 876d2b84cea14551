//! Sixteen callers, three gateways and one file of meters: nobody exceeds a limit by more than one request.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use photic_gateway::NewCallerKey;

use crate::caller::{exchange, post};
use crate::scratch::{Scratch, quoted};
use crate::scripted::{Act, Upstream, ok};
use crate::started;

const CALLERS: usize = 16;
/// Tokens that a request costs: 60 of input, 40 of output.
const COST: u64 = 100;
const LIMIT: u64 = 3000;
/// The most that a request may cost by what is known before it is sent.
const WORTH: u64 = 2000;

fn day() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() / 86_400
}

/// Returns the tokens that each caller got.
async fn spend() -> Vec<u64> {
    let spent: Arc<Mutex<Vec<u64>>> = Arc::new(Mutex::new(vec![0; CALLERS]));
    let counting = Arc::clone(&spent);
    let (upstream, _) = Upstream::start(move |seen| {
        let body: serde_json::Value = serde_json::from_slice(&seen.body).unwrap();
        let caller = body["user"].as_str().unwrap().parse::<usize>().unwrap();
        counting.lock().unwrap()[caller] += COST;
        vec![Act::Send(ok(
            b"{\"choices\":[],\"usage\":{\"prompt_tokens\":60,\"completion_tokens\":40}}",
        ))]
    })
    .await;
    let scratch = Scratch::new();
    let keys: Vec<NewCallerKey> =
        (0..CALLERS).map(|number| NewCallerKey::new(&format!("c{number}")).unwrap()).collect();
    let entries = keys.iter().enumerate().map(|(number, key)| {
        let digest = &key.digest;
        format!("[[caller]]\nname = 'c{number}'\ndigest = '{digest}'\ntokens_per_day = {LIMIT}\n")
    });
    let file = quoted(&scratch.write("callers.toml", entries.collect::<String>()));
    let meters = quoted(&scratch.path("meters"));
    let settings = format!(
        "[callers]\nfile = {file}\nmeters = {meters}\n[[upstream]]\nurl = 'http://{upstream}'"
    );
    let mut gateways: Vec<SocketAddr> = Vec::new();
    for _ in 0..3 {
        gateways.push(started(&settings).await);
    }
    let refused = Arc::new(AtomicU64::new(0));
    let calling = keys.into_iter().enumerate().map(|(number, NewCallerKey { key, .. })| {
        let (gateways, refused) = (gateways.clone(), Arc::clone(&refused));
        tokio::spawn(async move {
            let body = format!(
                "{{\"model\":\"gpt-4o\",\"user\":\"{number}\",\"max_tokens\":40,\
                 \"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}]}}"
            );
            let headers = format!("authorization: Bearer {key}\r\n");
            let request = post("/v1/chat/completions", &headers, body.as_bytes());
            let mut is_over = false;
            for round in 0.. {
                // Three at once, one at each gateway.
                let (one, two, three) = tokio::join!(
                    exchange(gateways[round % 3], &request),
                    exchange(gateways[(round + 1) % 3], &request),
                    exchange(gateways[(round + 2) % 3], &request),
                );
                for reply in [&one, &two, &three] {
                    match reply.header("x-photic-error") {
                        None => assert_eq!(reply.status, 200, "{reply:?}"),
                        Some(code) => {
                            assert_eq!(reply.status, 429, "{reply:?}");
                            assert!(reply.header("retry-after").is_some());
                            assert_eq!(reply.json()["error"]["code"], code);
                            is_over |= code == "over_budget";
                            refused.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
                if is_over {
                    break;
                }
                assert!(round < 1000, "the limit is never reached");
            }
        })
    });
    for one in calling.collect::<Vec<_>>() {
        one.await.unwrap();
    }
    assert!(refused.load(Ordering::Relaxed) >= CALLERS as u64);
    spent.lock().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_exceeds_a_limit_by_more_than_one_request() {
    // A day that ends meanwhile has a limit of its own.
    let spent = loop {
        let before = day();
        let spent = spend().await;
        if day() == before {
            break spent;
        }
    };
    for (caller, spent) in spent.iter().enumerate() {
        assert!(*spent <= LIMIT + COST, "caller {caller} got {spent} of {LIMIT}");
        assert!(*spent + WORTH >= LIMIT, "caller {caller} got only {spent} of {LIMIT}");
    }
}

#[tokio::test]
async fn a_request_that_is_sent_again_is_reserved_once() {
    let (failing, seen_failing) = Upstream::start(|_| {
        vec![Act::Send(
            b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\n\r\n{}".to_vec(),
        )]
    })
    .await;
    let (good, _) = Upstream::answering(
        "{\"choices\":[],\"usage\":{\"prompt_tokens\":60,\"completion_tokens\":40}}",
    )
    .await;
    let (scratch, key) = (Scratch::new(), NewCallerKey::new("c").unwrap());
    // One reservation uses up the limit.
    let entry =
        format!("[[caller]]\nname = 'c'\ndigest = '{}'\ntokens_per_day = 500\n", key.digest);
    let file = quoted(&scratch.write("callers.toml", entry));
    let gateway = started(&format!(
        "[callers]\nfile = {file}\n\
         [[upstream]]\nname = 'failing'\nurl = 'http://{failing}'\ncredentials = 'own'\n\
         [[upstream]]\nname = 'good'\nurl = 'http://{good}'\ncredentials = 'own'\n\
         [[model]]\nname = 'gpt-4o'\nupstreams = ['failing', 'good']"
    ))
    .await;
    let headers = format!("authorization: Bearer {}\r\n", key.key);
    let body = b"{\"model\":\"gpt-4o\",\"max_tokens\":40,\
        \"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    let reply = exchange(gateway, &post("/v1/chat/completions", &headers, body)).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(seen_failing.seen.lock().unwrap().len(), 1);
}

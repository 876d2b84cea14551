//! The default rules, without exceptions for tests: two network namespaces in which public
//! addresses lead to local servers. Skipped with a message if namespaces cannot be created.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use photic_net::fetch::{Fetch, Refusal, Rules, System};
use tokio::net::TcpListener;

use crate::server::{redirect, reply, serve_on};
use crate::{Script, is_picture, picture};

/// Set for tests that run inside the namespace.
const INSIDE: &str = "PHOTIC_INSIDE_NAMESPACE";

/// A network namespace that is deleted when dropped.
struct Namespace(String);

impl Namespace {
    fn new(role: &str) -> Option<Self> {
        let name = format!("photic-{role}-{}", std::process::id());
        ip(&["netns", "add", &name]).then_some(Self(name))
    }

    fn ip(&self, arguments: &[&str]) {
        assert!(ip(&[&["-n", &self.0], arguments].concat()), "ip {arguments:?}");
    }

    /// Runs one of the ignored tests of this file inside the namespace.
    fn run(&self, test: &str) -> Child {
        Command::new("ip")
            .args(["netns", "exec", &self.0])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(INSIDE, "1")
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        ip(&["netns", "delete", &self.0]);
    }
}

fn ip(arguments: &[&str]) -> bool {
    let ran = Command::new("ip").args(arguments).stderr(Stdio::null()).status();
    ran.is_ok_and(|status| status.success())
}

#[test]
fn public_addresses_in_a_network_of_our_own() {
    let (Some(client), Some(server)) = (Namespace::new("client"), Namespace::new("server")) else {
        println!("skipped: no network namespace can be made here; that takes root and `ip`");
        return;
    };
    client.ip(&["link", "add", "c", "type", "veth", "peer", "name", "s", "netns", &server.0]);
    for (namespace, link, addresses) in [
        (&client, "c", &["9.9.9.1/24", "10.9.9.1/24"]),
        (&server, "s", &["9.9.9.9/24", "10.9.9.9/24"]),
    ] {
        for address in addresses {
            namespace.ip(&["address", "add", address, "dev", link]);
        }
        namespace.ip(&["link", "set", link, "up"]);
        namespace.ip(&["link", "set", "lo", "up"]);
    }
    let mut serving = server.run("namespace::serves");
    let status = client.run("namespace::fetches").wait().unwrap();
    // The server runs until it is stopped.
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(status.success());
}

#[tokio::test]
#[ignore = "runs in a namespace that the test above makes"]
async fn serves() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
    let (_, heads) = serve_on(listener, |head| match head.split(' ').nth(1).unwrap() {
        "/picture" => reply("200 OK", "", &picture(2000)),
        "/inside" => redirect("http://10.9.9.9/picture"),
        "/back" => redirect("http://9.9.9.1/picture"),
        _ => reply("404 Not Found", "", b""),
    });
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let asked = heads.lock().unwrap().concat();
        assert!(!asked.contains("host: 10."), "the private address was asked");
    }
}

#[tokio::test]
#[ignore = "runs in a namespace that the test above makes"]
async fn fetches() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    // A local service behind the public address of this machine.
    let (_, asked) = serve_on(TcpListener::bind("0.0.0.0:80").await.unwrap(), |_| {
        reply("200 OK", "", &picture(9))
    });
    let fetch = Fetch::new(Rules::new(is_picture), std::sync::Arc::new(System));
    let mut got = Err(Refusal::Timeout);
    for _ in 0..50 {
        got = fetch.get("http://9.9.9.9/picture").await;
        if got.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(got, Ok(picture(2000)));
    for (address, rule) in [
        ("http://9.9.9.9/inside", Refusal::NotPublic),
        ("http://10.9.9.9/picture", Refusal::NotPublic),
        ("http://127.0.0.1/picture", Refusal::NotPublic),
        ("http://9.9.9.1/picture", Refusal::OwnMachine),
        ("http://9.9.9.9/back", Refusal::OwnMachine),
        ("http://9.9.9.9/other", Refusal::Status(404)),
    ] {
        assert_eq!(fetch.get(address).await, Err(rule), "{address}");
    }
    // The name is public when it is checked and this machine when it is resolved again.
    let names = Script::new(&[Some(&["9.9.9.9"]), Some(&["127.0.0.1"])]);
    let fetch = Fetch::new(Rules::new(is_picture), names.clone());
    assert_eq!(fetch.get("http://rebound.example/picture").await, Ok(picture(2000)));
    assert_eq!(names.asked().len(), 1);
    assert_eq!(fetch.get("http://rebound.example/picture").await, Err(Refusal::NotPublic));
    assert!(asked.lock().unwrap().is_empty());
}

//! Requests to Amazon Bedrock are signed with the gateway's credentials, read or not.

use std::process::Command;

use crate::caller::{exchange, post};
use crate::scripted::Upstream;
use crate::started;

/// The process of the test that has the credentials.
const IS_CHILD: &str = "PHOTIC_TEST_SIGNS";

/// Runs this test again in a process whose variables hold the credentials.
fn run_again(name: &str) {
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(IS_CHILD, "1")
        .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env_remove("AWS_SESSION_TOKEN")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn requests_that_are_passed_on_are_signed() {
    if std::env::var_os(IS_CHILD).is_none() {
        return run_again("signing::requests_that_are_passed_on_are_signed");
    }
    tokio::runtime::Runtime::new().unwrap().block_on(pass_and_check());
}

async fn pass_and_check() {
    let (address, upstream) = Upstream::answering("{}").await;
    let settings = format!(
        "[[upstream]]\nwire = 'bedrock-converse'\nurl = 'http://{address}'\nregion = 'eu-west-1'"
    );
    let gateway = started(&settings).await;
    let own = "authorization: AWS4-HMAC-SHA256 Credential=CLIENT/x\r\nx-amz-date: old\r\n";
    let body = b"{\"messages\":[]}";
    for (path, header) in [
        ("/model/us.a-v1%3A0/converse", ""),
        ("/model/us.a-v1%3A0/converse", "x-photic-off: 1\r\n"),
        ("/model/m/invoke", "content-encoding: snappy\r\n"),
        ("/model/us.a-v1%3A0/count-tokens", ""),
        ("/guardrail/g/version/1/apply?a=b", ""),
    ] {
        let reply = exchange(gateway, &post(path, &format!("{own}{header}"), body)).await;
        assert_eq!(reply.status, 200, "{path} {reply:?}");
        let seen = upstream.last();
        let line = format!("post {} http/1.1\r\n", path.to_lowercase());
        assert!(seen.head.starts_with(&line), "{}", seen.head);
        assert!(seen.head.contains("aws4-hmac-sha256 credential=akidexample/"), "{}", seen.head);
        assert!(!seen.head.contains("client") && !seen.head.contains("x-amz-date: old"));
        // The digest of this body.
        assert!(seen.head.contains(DIGEST), "{}", seen.head);
        assert_eq!(seen.body, body);
    }
    // A key of Bedrock is passed on, and so is the body as it comes.
    let key = "authorization: Bearer ABSKkey\r\n";
    let reply = exchange(gateway, &post("/model/m/count-tokens", key, body)).await;
    assert_eq!(reply.status, 200);
    assert!(upstream.last().head.contains("authorization: bearer abskkey\r\n"));
}

const DIGEST: &str =
    "x-amz-content-sha256: 5e4ce7b36ba37b78a5d5f9fd08e6b7b54ba6879d651aa46ec9e1d6fa24ebe30a";

//! A gateway with its log, metrics and traces.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use photic_gateway::{Config, Gateway, Serves, Tally};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::caller::{exchange, get};
use crate::scripted::Upstream;

/// A gateway and its log.
pub(crate) struct Watching {
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) tally: Arc<Tally>,
    log: Lines,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Watching {
    pub(crate) async fn start(settings: &str) -> Self {
        Self::of(Config::parse(settings).unwrap()).await
    }

    /// Starts a gateway that serves one command, as that of `photic run` does.
    pub(crate) async fn of_one_command(settings: &str) -> Self {
        let config = Config::parse(settings).unwrap();
        Self::of(Config { serves: Serves::OneCommand, ..config }).await
    }

    async fn of(mut config: Config) -> Self {
        "127.0.0.1:0".clone_into(&mut config.listen);
        let log = Lines::default();
        let gateway = Gateway::bind(config).await.unwrap().log_to(log.clone());
        let (address, admin) = (gateway.address(), gateway.admin_address());
        let tally = gateway.tally();
        let (stop, told) = oneshot::channel();
        let serving = tokio::spawn(gateway.serve(async {
            let _ = told.await;
        }));
        Self { address, admin, tally, log, stop, serving }
    }

    pub(crate) async fn metrics(&self) -> String {
        let reply = exchange(self.admin, &get("/metrics", "")).await;
        assert_eq!(reply.status, 200);
        String::from_utf8(reply.body).unwrap()
    }

    /// Waits for the page of metrics to contain these lines, and returns it.
    pub(crate) async fn metrics_with(&self, lines: &[&str]) -> String {
        let mut page = String::new();
        for _ in 0..100 {
            page = self.metrics().await;
            if lines.iter().all(|line| page.lines().any(|it| it == *line)) {
                return page;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{lines:?} are not all in\n{page}");
    }

    /// Stops the gateway, and returns its log.
    pub(crate) async fn ended(self) -> String {
        let _ = self.stop.send(());
        self.serving.await.unwrap();
        String::from_utf8(self.log.0.lock().unwrap().clone()).unwrap()
    }
}

/// Returns the lines of a log for one event.
pub(crate) fn events(log: &str, name: &str) -> Vec<Value> {
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["event"] == name).collect()
}

/// Returns the spans that were sent to a collector.
pub(crate) fn spans(collector: &Upstream) -> Vec<Value> {
    let mut all = Vec::new();
    for seen in collector.seen.lock().unwrap().iter() {
        assert!(seen.head.starts_with("post /v1/traces "), "{}", seen.head);
        assert!(seen.head.contains("content-type: application/json\r\n"), "{}", seen.head);
        let body: Value = serde_json::from_slice(&seen.body).unwrap();
        let scope = &body["resourceSpans"][0]["scopeSpans"][0];
        all.extend(scope["spans"].as_array().unwrap().iter().cloned());
    }
    all
}

/// Returns the value of an attribute of a span.
pub(crate) fn attribute(span: &Value, key: &str) -> Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|attribute| attribute["key"] == key);
    let value = found.and_then(|found| found["value"].as_object()?.values().next().cloned());
    value.unwrap_or(Value::Null)
}

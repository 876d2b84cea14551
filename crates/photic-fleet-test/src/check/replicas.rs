//! A request that is sent to every replica reaches the provider as the same bytes each time.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::{Findings, Sample};
use crate::connection::Connection;
use crate::journal::Line;

/// Sends each sample to each replica.
pub async fn replicas(samples: &[Sample], replicas: &[SocketAddr], lines: &[Line]) -> Findings {
    let mut findings = Findings::default();
    let mut upstream: BTreeMap<u32, (u32, &str)> = BTreeMap::new();
    for line in lines {
        if let Line::Turn(turn) = line {
            let last = upstream.entry(turn.session).or_default();
            if turn.turn >= last.0 {
                *last = (turn.turn, &turn.upstream);
            }
        }
    }
    let mut replicas: Vec<Connection> =
        replicas.iter().map(|address| Connection::to(*address)).collect();
    for sample in samples {
        findings.compared += 1;
        let then = upstream.get(&sample.session).map(|(_, digest)| *digest).unwrap_or_default();
        for (number, connection) in replicas.iter_mut().enumerate() {
            let answer = connection.send(sample.ask()).await;
            let got = answer.as_ref().ok().and_then(|answer| answer.header("x-mock-body"));
            if got != Some(then) {
                let status = answer.as_ref().map(|answer| answer.status);
                findings.complain(format!(
                    "session {}: replica {number} sent other bytes than before ({status:?})",
                    sample.session
                ));
            }
        }
    }
    findings
}

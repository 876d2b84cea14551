//! Sends requests one after the other, and measures their cost in the proxy.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::bodies::Repeated;
use crate::proxy::Proxy;
use crate::upstream::remaining;

/// The cost of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// CPU time of the proxy, in µs.
    pub(crate) cpu: f64,
    /// Median time from the first byte sent to the last received, in µs.
    pub(crate) wall: f64,
}

/// Sends one request repeatedly on one connection.
pub(crate) fn repeat(proxy: &Proxy, request: &mut Repeated, times: u32) -> Outcome<Cost> {
    let mut stream = connect(proxy.address)?;
    let mut walls = Vec::new();
    let before = proxy.cpu()?;
    for _ in 0..times {
        let request = request.next();
        let start = Instant::now();
        stream.write_all(request)?;
        answer(&mut stream)?;
        walls.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let cpu = proxy.cpu()?.saturating_sub(before);
    Ok(Cost { cpu: cpu.as_secs_f64() * 1e6 / f64::from(times), wall: median(walls) })
}

/// Sends requests one after the other, on one connection.
pub(crate) fn send_all(proxy: &Proxy, requests: impl Iterator<Item = Vec<u8>>) -> Outcome<()> {
    let mut stream = connect(proxy.address)?;
    for request in requests {
        stream.write_all(&request)?;
        answer(&mut stream)?;
    }
    Ok(())
}

/// Measures proxies in turns, in rotating order. Returns the rounds of each.
pub(crate) fn rounds(
    proxies: &[(&Proxy, u32)],
    request: &mut Repeated,
    rounds: usize,
) -> Outcome<Vec<Vec<Cost>>> {
    let mut costs = vec![Vec::new(); proxies.len()];
    for round in 0..=rounds {
        for turn in 0..proxies.len() {
            let which = (round + turn) % proxies.len();
            let (proxy, times) = proxies[which];
            let cost = repeat(proxy, request, times)?;
            // The first round fills pools and caches.
            if round > 0 {
                costs[which].push(cost);
            }
        }
    }
    Ok(costs)
}

/// Measures proxies in turns. Returns the median of the rounds for each.
pub(crate) fn in_turns(
    proxies: &[(&Proxy, u32)],
    request: &mut Repeated,
    times: usize,
) -> Outcome<Vec<Cost>> {
    let one = |costs: Vec<Cost>| Cost {
        cpu: median(costs.iter().map(|cost| cost.cpu).collect()),
        wall: median(costs.iter().map(|cost| cost.wall).collect()),
    };
    Ok(rounds(proxies, request, times)?.into_iter().map(one).collect())
}

pub(crate) fn connect(address: SocketAddr) -> Outcome<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    Ok(stream)
}

/// Reads a reply with a length. Fails if its status is not 200.
pub(crate) fn answer(stream: &mut TcpStream) -> Outcome<()> {
    let mut buffer = vec![0; 64 << 10];
    let mut had = 0;
    loop {
        let read = stream.read(&mut buffer[had..])?;
        if read == 0 {
            return Err("the proxy hung up".into());
        }
        had += read;
        if remaining(&buffer[..had]) == Some(0) {
            break;
        }
    }
    if buffer.starts_with(b"HTTP/1.1 200 ") {
        return Ok(());
    }
    Err(format!("an answer: {}", String::from_utf8_lossy(&buffer[..had])).into())
}

pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

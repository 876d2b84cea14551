//! What the gateway costs: its CPU time a request against that of the pipe, which forwards and does
//! nothing else. Both run as processes of their own, in turns, against the same upstream.
//!
//! `cargo run --release -p photic-gateway --example measure` (build the example `pipe` first)

#![expect(clippy::print_stdout, reason = "its figures are what it is for")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use photic_gateway::{Config, Gateway};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const ROUNDS: usize = 15;
const ANSWER: &[u8] = br#"{"id":"r","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a sentence that is about as long as short answers are"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":12,"total_tokens":112}}"#;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("gateway") => gateway(&arguments.next().ok_or("an upstream is wanted")?),
        _ => compare(),
    }
}

fn gateway(upstream: &str) -> Outcome<()> {
    photic_gateway::runtime()?.block_on(serve_gateway(upstream))
}

async fn serve_gateway(upstream: &str) -> Outcome<()> {
    let settings = "listen='127.0.0.1:0'\n[policy]\nretention='all'";
    let config = Config::parse(&format!("{settings}\n[[upstream]]\nurl='http://{upstream}'"))?;
    let gateway = Gateway::bind(config).await?;
    println!("{}", gateway.address().port());
    gateway.serve(std::future::pending()).await;
    Ok(())
}

fn compare() -> Outcome<()> {
    let upstream = upstream()?;
    let here = std::env::current_exe()?;
    let pipe = Proxy::start(Command::new(here.with_file_name("pipe")).arg(upstream.to_string()))?;
    let gateway = Proxy::start(Command::new(&here).arg("gateway").arg(upstream.to_string()))?;
    println!(
        "{:28} {:>9} {:>9} {:>6}   {:>9} {:>9}",
        "CPU µs a request, median", "pipe", "gateway", "ratio", "p50 pipe", "p50 gw"
    );
    for (name, body, requests) in [
        ("2 KB", conversation(0, 0), 2000),
        ("12 MB, ten images hoisted", conversation(10, 900_000), 15),
        ("12 MB, nothing to do", conversation(0, 12_000_000), 15),
    ] {
        let request = request(&body);
        let mut figures = [Vec::new(), Vec::new()];
        let mut walls = [Vec::new(), Vec::new()];
        for round in 0..=ROUNDS {
            // In turns, and each first as often as the other.
            for which in [round % 2, (round + 1) % 2] {
                let proxy = [&pipe, &gateway][which];
                let (cpu, wall) = proxy.load(&request, requests)?;
                // The first round fills pools and caches.
                if round > 0 {
                    figures[which].push(cpu.as_secs_f64() * 1e6 / f64::from(requests));
                    walls[which].push(wall.as_secs_f64() * 1e6);
                }
            }
        }
        let [a, b] = figures.map(median);
        let [wall_a, wall_b] = walls.map(median);
        println!("{name:28} {a:9.1} {b:9.1} {:6.2}   {wall_a:9.1} {wall_b:9.1}", b / a);
    }
    println!("peak resident: pipe {} MB, gateway {} MB", pipe.peak()?, gateway.peak()?);
    std::thread::sleep(Duration::from_secs(12));
    println!("idle resident: pipe {} MB, gateway {} MB", pipe.resident()?, gateway.resident()?);
    Ok(())
}

/// A proxy in a process of its own.
struct Proxy {
    child: Child,
    address: SocketAddr,
}

impl Proxy {
    fn start(command: &mut Command) -> Outcome<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let address = SocketAddr::from(([127, 0, 0, 1], line.trim().parse()?));
        Ok(Self { child, address })
    }

    /// CPU time of all requests, and the median of how long one took.
    fn load(&self, request: &[u8], requests: u32) -> Outcome<(Duration, Duration)> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        let mut walls = Vec::new();
        let before = self.cpu()?;
        for _ in 0..requests {
            let start = Instant::now();
            stream.write_all(request)?;
            answer(&mut stream)?;
            walls.push(start.elapsed());
        }
        let cpu = self.cpu()?.saturating_sub(before);
        walls.sort_unstable();
        Ok((cpu, walls[walls.len() / 2]))
    }

    /// The time its threads ran, to the nanosecond.
    fn cpu(&self) -> Outcome<Duration> {
        let mut total = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let stat = std::fs::read_to_string(task?.path().join("schedstat"))?;
            total += stat.split(' ').next().ok_or("no time")?.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(total))
    }

    fn peak(&self) -> Outcome<u64> {
        self.status("VmHWM:")
    }

    fn resident(&self) -> Outcome<u64> {
        self.status("VmRSS:")
    }

    fn status(&self, name: &str) -> Outcome<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? / 1024)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads everything and always answers the same, a thread for each connection.
fn upstream() -> Outcome<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    Ok(address)
}

fn serve(mut stream: TcpStream) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        ANSWER.len()
    );
    let reply = [head.as_bytes(), ANSWER].concat();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let (mut had, mut left) = (0, None);
        while left != Some(0) {
            let read = stream.read(&mut buffer[if left.is_none() { had } else { 0 }..]).ok()?;
            if read == 0 {
                return None;
            }
            if let Some(rest) = &mut left {
                *rest -= read;
            } else {
                had += read;
                left = remaining(&buffer[..had]);
            }
        }
        stream.write_all(&reply).ok()?;
    }
}

/// How much of a message is still to come, once its head is there.
fn remaining(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).ok()?.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    (end + length.unwrap_or(0)).checked_sub(bytes.len())
}

fn answer(stream: &mut TcpStream) -> Outcome<()> {
    let mut buffer = vec![0; 16 << 10];
    let mut had = 0;
    loop {
        let read = stream.read(&mut buffer[had..])?;
        if read == 0 {
            return Err("the proxy hung up".into());
        }
        had += read;
        if remaining(&buffer[..had]) == Some(0) {
            return Ok(());
        }
    }
}

fn request(body: &str) -> Vec<u8> {
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nauthorization: Bearer k\r\n\
         user-agent: measure\r\naccept: */*\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// A conversation of about 2 KB of words, and so many tool images (or one of the user's).
fn conversation(images: u8, bytes: usize) -> String {
    let words = "Look at the page and say what is wrong with it. ".repeat(34);
    let mut messages = vec![format!("{{\"role\":\"user\",\"content\":\"{words}\"}}")];
    if images == 0 && bytes > 0 {
        messages.push(format!(
            "{{\"role\":\"user\",\"content\":[{{\"type\":\"image_url\",\"image_url\":{{\"url\":\"data:image/png;base64,{}\"}}}}]}}",
            picture(0, bytes / 4 * 3)
        ));
    }
    for image in 0..images {
        messages.push(format!(
            "{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"c{image}\",\
             \"type\":\"function\",\"function\":{{\"name\":\"shot\",\"arguments\":\"{{}}\"}}}}]}}"
        ));
        messages.push(format!(
            "{{\"role\":\"tool\",\"tool_call_id\":\"c{image}\",\"content\":[{{\"type\":\"image_url\",\
             \"image_url\":{{\"url\":\"data:image/png;base64,{}\"}}}}]}}",
            picture(image, bytes)
        ));
    }
    format!("{{\"model\":\"gpt-4o\",\"messages\":[{}]}}", messages.join(","))
}

/// The header of a PNG, then noise: nobody decodes what is within limits.
fn picture(seed: u8, bytes: usize) -> String {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x03\x20\x08\x06\0\0\0".to_vec();
    let mut state = u32::from(seed) + 1;
    png.extend((0..bytes).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    }));
    base64::engine::general_purpose::STANDARD.encode(png)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

//! Any bytes on a connection to the gateway, in front of an upstream that refuses: whatever is
//! answered is HTTP, and the gateway goes on.
#![no_main]

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use photic_gateway::{Config, Gateway};

/// So often the gateway is asked how it is.
const ASKED: u32 = 512;

fn gateway() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        // Nobody listens there any more.
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let settings = format!(
            "listen = '127.0.0.1:0'\nlog = 'off'\n\
             [limits]\nbody_mib = 1\n[timeouts]\nidle_s = 1\nconnect_s = 1\n\
             [fetch]\nmode = 'never'\n[[upstream]]\nurl = 'http://{closed}'\n"
        );
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let config = Config::parse(&settings).unwrap();
                let gateway = Gateway::bind(config).await.unwrap();
                tell.send(gateway.address()).unwrap();
                gateway.serve(std::future::pending()).await;
            });
        });
        told.recv().unwrap()
    })
}

fn exchange(bytes: &[u8], pieces: usize) -> Vec<u8> {
    let mut stream = TcpStream::connect(gateway()).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    for piece in bytes.chunks(bytes.len().div_ceil(pieces).max(1)) {
        // A gateway that has heard enough hangs up.
        if stream.write_all(piece).is_err() {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            panic!("no answer and no end in 15 seconds")
        }
        _ => answer,
    }
}

thread_local! {
    static TURN: Cell<u32> = const { Cell::new(0) };
}

fuzz_target!(|bytes: &[u8]| {
    // The last byte says in how many pieces it comes.
    let pieces = usize::from(bytes.last().copied().unwrap_or(0) % 4) + 1;
    let answer = exchange(bytes, pieces);
    if let Some(head) = answer.get(..9) {
        assert!(head.starts_with(b"HTTP/1.") && head[8] == b' ', "{head:?}");
    }
    TURN.set(TURN.get() + 1);
    if TURN.get() % ASKED == 0 {
        let health = exchange(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", 1);
        assert!(health.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&health));
    }
});

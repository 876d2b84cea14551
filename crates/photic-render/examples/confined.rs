//! Confines itself as a worker does, then tries what a worker must not be able to do, and says what
//! became of it: `confined <file to read> <file to delete> <port of a listener>`.

use std::fs::{self, File};
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [readable, doomed, port] = arguments.as_slice() else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    let port: u16 = port.parse().map_err(std::io::Error::other)?;
    // Before: the attempts are real ones.
    let before = File::open(readable).is_ok();
    photic_render::confine(5, 1 << 30)?;
    let here = Ipv4Addr::LOCALHOST;
    let attempts = [
        ("read", File::open(readable).is_ok()),
        ("list", fs::read_dir("/").is_ok()),
        ("write", fs::write(doomed, b"x").is_ok()),
        ("connect", TcpStream::connect((here, port)).is_ok()),
        ("listen", TcpListener::bind((here, 0)).is_ok()),
        ("datagram", UdpSocket::bind((here, 0)).is_ok()),
        ("run", Command::new("/bin/true").status().is_ok()),
        ("delete", fs::remove_file(doomed).is_ok()),
    ];
    let mut out = std::io::stdout().lock();
    writeln!(out, "before {before}")?;
    for (what, done) in attempts {
        writeln!(out, "{what} {done}")?;
    }
    Ok(())
}

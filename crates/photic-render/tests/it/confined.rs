//! A confined process can reach nothing: tried from inside, with real files and sockets.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use crate::example;

#[test]
fn a_confined_process_opens_and_connects_nothing() {
    let folder = std::env::temp_dir().join(format!("photic-render-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let doomed = folder.join("doomed");
    std::fs::write(&doomed, b"still here").expect("a file");
    let trap = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
    trap.set_nonblocking(true).expect("a listener that does not wait");
    let port = trap.local_addr().expect("an address").port();

    let output = Command::new(example("confined"))
        .arg("/proc/self/status")
        .arg(&doomed)
        .arg(port.to_string())
        .output()
        .expect("the example runs");
    let said = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.first(), Some(&"before true"), "{said}");
    let denied = ["read", "list", "write", "connect", "listen", "datagram", "run"];
    for what in denied {
        assert!(lines.contains(&format!("{what} false").as_str()), "{what}: {said}");
    }
    assert!(trap.accept().is_err(), "somebody connected");
    // Deleting takes no descriptor; only Landlock forbids it, where the kernel has it.
    let landlock = std::fs::read_to_string("/sys/kernel/security/lsm");
    if landlock.is_ok_and(|modules| modules.contains("landlock")) {
        assert!(lines.contains(&"delete false"), "{said}");
        assert_eq!(std::fs::read(&doomed).expect("the file"), b"still here");
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

//! The inspector of `photic serve` and `photic ui`: which listener it is on, and how it is opened.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A process that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An empty folder of a test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    String::from_utf8_lossy(&reply).into_owned()
}

#[test]
fn it_is_on_the_listener_for_operators_and_not_on_that_for_callers() {
    let folder = folder("inspector-doors");
    let config = "[admin]\nlisten = \"127.0.0.1:0\"\n[record]\ndirectory = \"sessions\"\n\
        [inspect]\nenabled = true\n";
    std::fs::write(folder.join("photic.toml"), config).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_photic"))
        .current_dir(&folder)
        .args(["serve", "--config", "photic.toml", "--listen", "127.0.0.1:0"])
        .args(["--upstream", "http://127.0.0.1:1"])
        .env("XDG_STATE_HOME", &folder)
        .env("XDG_CONFIG_HOME", "/nowhere")
        .env_remove("PHOTIC_CONFIG")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let _running = Running(child);
    let mut told = lines.take_while(|line| !line.contains("recorded sessions at "));
    let line = |start: &str, mut told: &mut dyn Iterator<Item = String>| {
        let found =
            Iterator::find_map(&mut told, |line| line.strip_prefix(start).map(str::to_owned));
        found.unwrap_or_else(|| panic!("no line begins with `{start}`"))
    };
    let callers = line("photic: listening on http://", &mut told);
    let operators = line("photic: administration on http://", &mut told);
    let page = get(&operators, "/inspect/");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("photic inspector"), "{page}");
    for path in ["/inspect", "/inspect/", "/inspect/app.js", "/inspect/api/v1/about"] {
        let reply = get(&callers, path);
        assert!(!reply.starts_with("HTTP/1.1 2") && !reply.starts_with("HTTP/1.1 3"), "{reply}");
        assert!(!reply.contains("photic inspector"), "{path}");
    }
}

/// Every user of a machine sees the arguments of a program.
#[cfg(target_os = "linux")]
#[test]
fn the_browser_gets_a_file_of_its_user_and_no_token() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder("inspector-open");
    let browser = folder.join("xdg-open");
    std::fs::write(
        &browser,
        "#!/bin/sh\nstat -c %a \"$1\" >mode\nprintf %s \"$1\" >argument\n\
        cat \"$1\" >page.part\nmv page.part page\n",
    )
    .unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o700)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_photic"))
        .current_dir(&folder)
        .args(["ui", "--open"])
        .env("XDG_STATE_HOME", &folder)
        .env("TMPDIR", &folder)
        .env("PATH", path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let mut running = Running(child);
    let (url, page) = (url.trim(), folder.join("page"));
    let token = url.split_once("token=").unwrap().1;
    let start = std::time::Instant::now();
    while !page.is_file() {
        assert!(start.elapsed() < std::time::Duration::from_mins(2), "no browser was started");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("mode"), "600\n");
    assert!(!read("argument").contains(token));
    assert!(read("page").contains(&format!("content=\"0;url={url}\"")), "{}", read("page"));
    // Told to end, it leaves no file with a token.
    let id = running.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(running.0.wait().unwrap().success());
    assert!(!PathBuf::from(read("argument")).exists());
}

//! Control of links: lines on a Unix socket, each answered with one line.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

use super::Mode;

/// Serves the control socket forever. A line is `NAME MODE`; a name that ends with `*` matches all
/// with this prefix. The answer is the number of matching links.
pub async fn obey(socket: &Path, links: &BTreeMap<String, watch::Sender<Mode>>) -> io::Result<()> {
    let listener = UnixListener::bind(socket)?;
    loop {
        let (stream, _) = listener.accept().await?;
        // One client at a time; one that disconnects within a line is ignored.
        let _ = listen_to(stream, links).await;
    }
}

async fn listen_to(
    mut stream: UnixStream,
    links: &BTreeMap<String, watch::Sender<Mode>>,
) -> io::Result<()> {
    let (reader, mut writer) = stream.split();
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await? {
        let answer = match tell(&line, links) {
            Some(count) => format!("{count}\n"),
            None => "what?\n".to_owned(),
        };
        writer.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

fn tell(line: &str, links: &BTreeMap<String, watch::Sender<Mode>>) -> Option<usize> {
    let (name, mode) = line.trim().split_once(' ')?;
    let mode: Mode = mode.parse().ok()?;
    let is_meant = |link: &str| match name.strip_suffix('*') {
        Some(beginning) => link.starts_with(beginning),
        None => link == name,
    };
    let told = links.iter().filter(|(link, _)| is_meant(link));
    let told = told.inspect(|(_, link)| {
        let _ = link.send_replace(mode);
    });
    Some(told.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_told_by_name_or_by_its_beginning() {
        let names = ["s3-1", "s3-2", "postgres-1"];
        let links: BTreeMap<String, watch::Sender<Mode>> =
            names.iter().map(|name| ((*name).to_owned(), watch::Sender::default())).collect();
        let modes = || links.values().map(|link| *link.borrow()).collect::<Vec<_>>();
        assert_eq!(tell("s3-* cut", &links), Some(2));
        assert_eq!(modes(), [Mode::Pass, Mode::Cut, Mode::Cut]);
        assert_eq!(tell("s3-1 pass", &links), Some(1));
        assert_eq!(modes(), [Mode::Pass, Mode::Pass, Mode::Cut]);
        assert_eq!((tell("gone cut", &links), tell("s3-1 jump", &links)), (Some(0), None));
    }
}

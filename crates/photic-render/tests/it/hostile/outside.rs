//! Nothing is fetched and nothing is read that was not handed over: tried with bait and a trap.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Command;

use photic_render::{Kind, Page, Refusal, Request, Worker, draw};

use super::drawings::svg;
use crate::makers::{page_objects, page_with, pdf};
use crate::{example, worker};

/// A listener that must get no connection, and files that must stay unopened. They are red.
struct Trap {
    listener: TcpListener,
    folder: PathBuf,
}

impl Trap {
    fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
        listener.set_nonblocking(true).expect("a listener that does not wait");
        let folder =
            std::env::temp_dir().join(format!("photic-render-bait-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let bait = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\
            <rect id='a' width='9' height='9' fill='red'/></svg>";
        std::fs::write(folder.join("bait.svg"), bait).expect("the bait");
        std::fs::write(folder.join("bait.css"), "*{fill:red;background:red}").expect("the bait");
        std::fs::write(folder.join("bait.txt"), "<rect width='9' height='9' fill='red'/>")
            .expect("the bait");
        Self { listener, folder }
    }

    /// Addresses and paths of the same bait.
    fn targets(&self) -> Vec<String> {
        let port = self.listener.local_addr().expect("an address").port();
        let path = self.folder.display();
        vec![
            format!("http://127.0.0.1:{port}/bait.svg"),
            format!("https://localhost:{port}/bait.svg"),
            format!("ftp://127.0.0.1:{port}/bait.svg"),
            format!("//127.0.0.1:{port}/bait.svg"),
            format!("\\\\127.0.0.1@{port}\\share\\bait.svg"),
            format!("file://{path}/bait.svg"),
            format!("{path}/bait.svg"),
            format!("{path}/bait.css"),
            format!("{path}/bait.txt"),
            format!("../../../../../../../../../../../..{path}/bait.svg"),
            "/proc/self/environ".to_owned(),
            "/dev/zero".to_owned(),
        ]
    }

    fn assert_untouched(self) {
        assert!(self.listener.accept().is_err(), "somebody connected");
        std::fs::remove_dir_all(&self.folder).expect("the folder goes");
    }
}

/// Every way in which a drawing can ask for something outside.
fn drawing(target: &str) -> Vec<u8> {
    let body = format!(
        "<style>@import url({target}); @import '{target}'; \
         @font-face {{ font-family: f; src: url({target}) }} rect {{ filter: url({target}#a) }}</style>\
         <image href='{target}' width='9' height='9'/><image xlink:href='{target}'/>\
         <use href='{target}#a'/><use href='{target}'/>\
         <filter id='f'><feImage href='{target}'/><feImage href='{target}#a'/></filter>\
         <pattern id='p' href='{target}#a'/><linearGradient id='g' href='{target}#a'/>\
         <rect width='1' height='1' fill='url({target}#a)' filter='url(#f)' mask='url({target}#a)'/>\
         <rect width='1' height='1' fill='url(#p)' stroke='url(#g)' clip-path='url({target}#a)'/>\
         <path d='M0 0L9 9' marker-mid='url({target}#a)' cursor='url({target})'/>\
         <text font-family='f'><textPath href='{target}#a'>a</textPath><tref href='{target}#a'/></text>\
         <script href='{target}'/><script>fetch('{target}')</script><a href='{target}'>a</a>\
         <foreignObject width='9' height='9'><iframe xmlns='http://www.w3.org/1999/xhtml' \
         src='{target}'/><img xmlns='http://www.w3.org/1999/xhtml' src='{target}'/></foreignObject>\
         <xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='{target}' parse='xml'/>\
         <color-profile href='{target}'/><animate href='{target}'/><mpath href='{target}'/>\
         <g xml:base='{target}'><image href='bait.svg' width='9' height='9'/></g>"
    );
    let drawing = svg("", "width='9' height='9'", &body).bytes;
    let sheet = format!("<?xml-stylesheet type='text/css' href='{target}'?>");
    [sheet.as_bytes(), &drawing].concat()
}

/// Refers to the target by entities: some parsers fetch them.
fn entities(target: &str) -> Vec<u8> {
    format!(
        "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' '{target}' [<!ENTITY a SYSTEM '{target}'>]>\
         <svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>&a;</svg>"
    )
    .into_bytes()
}

/// Every way in which a document can.
fn document(target: &str) -> Vec<u8> {
    let target = target.replace('\\', "\\\\");
    let file = format!("<< /Type /Filespec /FS /URL /F ({target}) /UF ({target}) >>");
    let action = |kind: &str| format!("<< /S /{kind} /URI ({target}) /F {file} >>");
    let page = format!(
        "/MediaBox [0 0 9 9] /AA << /O {} /C {} >> /Annots [8 0 R 9 0 R]",
        action("SubmitForm"),
        action("GoToR")
    );
    let outside = format!(
        "<< /Type /XObject /Subtype /Image /Width 9 /Height 9 /BitsPerComponent 8 \
         /ColorSpace /DeviceRGB /F {file} /FFilter /DCTDecode /Length 0 >>\nstream\n\nendstream"
    );
    let note = |kind: &str| {
        format!(
            "<< /Type /Annot /Subtype /{kind} /Rect [0 0 9 9] /A {} /FS {file} >>",
            action("URI")
        )
    };
    let more = [outside, note("Movie"), note("FileAttachment")];
    let mut objects = page_with(&page, "/XObject << /X 7 0 R >>", "9 0 0 9 0 0 cm /X Do", &more);
    objects[0] = format!(
        "<< /Type /Catalog /Pages 2 0 R /OpenAction {} /URI << /Base ({target}) >> \
         /Names << /EmbeddedFiles << /Names [(a) {file}] >> >> >>",
        action("Launch")
    );
    objects[4] = format!(
        "<< /Type /Font /Subtype /TrueType /BaseFont /Far /FontDescriptor << /FontName /Far \
         /FontFile2 << /F {file} >> >> >>"
    );
    pdf(&objects)
}

fn is_red(page: &Page) -> bool {
    let red = |pixel: &[u8]| pixel[0] > 200 && pixel[1] < 60 && pixel.get(3) != Some(&0);
    page.raster.data.chunks_exact(page.raster.layout.samples()).any(red)
}

/// Draws in a child, and in this process, which no sandbox holds back.
fn both(bytes: &[u8], kind: Kind) -> [Result<Page, Refusal>; 2] {
    let request = Request::new(bytes, kind);
    [worker().draw(&request), draw(&request)]
}

#[test]
fn nothing_outside_is_fetched_or_read() {
    let trap = Trap::new();
    for target in trap.targets() {
        for page in both(&drawing(&target), Kind::Svg) {
            let page = page.expect("a page");
            assert!(page.facts.left_out.iter().any(|left| left.detail == target), "{target}");
            assert!(!is_red(&page), "`{target}` was shown");
        }
        for page in both(&entities(&target), Kind::Svg) {
            assert!(!page.is_ok_and(|page| is_red(&page)), "`{target}` was shown");
        }
        for page in both(&document(&target), Kind::Pdf) {
            assert!(!is_red(&page.expect("a page")), "`{target}` was shown");
        }
    }
    trap.assert_untouched();
}

#[test]
fn the_bait_would_be_seen() {
    let bait = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\
        <rect id='a' width='9' height='9' fill='red'/></svg>";
    assert!(is_red(&draw(&Request::new(bait.as_bytes(), Kind::Svg)).expect("a page")));
    let objects = page_objects("/MediaBox [0 0 9 9]", "1 0 0 rg 0 0 9 9 re f");
    assert!(is_red(&draw(&Request::new(&pdf(&objects), Kind::Pdf)).expect("a page")));
    let trap = Trap::new();
    let address = trap.listener.local_addr().expect("an address");
    std::net::TcpStream::connect(address).expect("a call");
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(trap.listener.accept().is_ok(), "a call is heard");
}

/// A worker behind another program, or why there is none.
fn behind(program: &str, arguments: &[&str]) -> Option<Worker> {
    let works = Command::new(program).args(arguments).arg("/bin/true").output();
    if !works.is_ok_and(|output| output.status.success()) {
        println!("skipped: `{program}` cannot be used here");
        return None;
    }
    let mut arguments: Vec<std::ffi::OsString> = arguments.iter().map(Into::into).collect();
    arguments.push(example("render_worker").into());
    Some(Worker { limits: worker().limits, ..Worker::new(program, arguments) })
}

#[test]
fn the_same_is_drawn_where_there_is_no_network() {
    let Some(cut_off) = behind("/usr/bin/unshare", &["-n"]) else { return };
    let trap = Trap::new();
    for target in trap.targets().iter().take(6) {
        for (bytes, kind) in [(drawing(target), Kind::Svg), (document(target), Kind::Pdf)] {
            let request = Request::new(&bytes, kind);
            assert_eq!(cut_off.draw(&request), worker().draw(&request), "{target}");
        }
    }
    trap.assert_untouched();
}

#[test]
fn the_system_sees_no_file_opened_and_no_call_made() {
    let log = std::env::temp_dir().join(format!("photic-render-trace-{}", std::process::id()));
    let log_name = log.display().to_string();
    let options = ["-f", "-qq", "-o", &log_name, "-e", "trace=%file,%network,read,prlimit64"];
    let Some(traced) = behind("/usr/bin/strace", &options) else { return };
    let trap = Trap::new();
    for target in trap.targets() {
        for (bytes, kind) in [(drawing(&target), Kind::Svg), (document(&target), Kind::Pdf)] {
            let page = traced.draw(&Request::new(&bytes, kind));
            assert!(page.is_ok(), "{target}: {page:?}");
            let trace = std::fs::read_to_string(&log).expect("a trace");
            // From the last right that it gives up, there are reads of its question, and no more.
            let (_, confined) = trace.rsplit_once("RLIMIT_NOFILE").expect("it is confined");
            let other = confined.lines().skip(1).find(|line| {
                let exits = line.contains("+++") || line.contains("prlimit64(0, RLIMIT_STACK");
                !exits && !line.contains("read(0,") && !line.contains("resumed>")
            });
            assert_eq!(other, None, "{target}");
        }
    }
    std::fs::remove_file(&log).expect("the trace goes");
    trap.assert_untouched();
}

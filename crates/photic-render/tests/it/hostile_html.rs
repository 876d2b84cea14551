//! Pages made to hurt: each ends in a page or a refusal, within its limits, reaches
//! nothing, reads nothing, and leaves nothing running.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use photic_render::{Browser, Kind, Page, ProgramLimits, Refusal, RefusalCode, Request};

use crate::programs::{browser, needed};

/// Enough for a cold start on a busy machine.
const TIME: Duration = Duration::from_secs(12);

/// A limit of memory that no other test has: by it, what one test has started can be told.
fn marked() -> u64 {
    (1 << 30) + (u64::from(std::process::id()) << 10)
}

/// Number of processes that run under the limit of this test.
fn running() -> usize {
    let mark = marked().to_string();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("limits")).ok())
        .filter(|limits| {
            let line = limits.lines().find(|line| line.starts_with("Max file size"));
            line.is_some_and(|line| line.contains(&mark))
        })
        .count()
}

/// Minutes of work: only where the programs are what is tested.
fn strict() -> Option<Browser> {
    let mut browser = browser().filter(|_| needed())?;
    browser.limits = ProgramLimits { time: TIME, memory: marked() };
    Some(browser)
}

/// For pages that must be drawn: time is not what they are about.
fn patient() -> Option<Browser> {
    let mut browser = strict()?;
    browser.limits.time = Duration::from_secs(40);
    Some(browser)
}

/// Draws a page, checks every promise of the crate, and returns the result.
fn survived(browser: &Browser, name: &str, page: &str) -> Result<Page, Refusal> {
    let begin = Instant::now();
    let outcome = browser.draw(&Request::new(page.as_bytes(), Kind::Html));
    let took = begin.elapsed();
    let told = outcome.as_ref().map(|page| (page.facts.pages, &page.raster));
    println!("{name}: {told:?} in {took:?}");
    assert!(took < browser.limits.time + Duration::from_mins(1), "`{name}` took {took:?}");
    assert_eq!(running(), 0, "`{name}` left something running");
    if let Err(refusal) = &outcome {
        assert_ne!(refusal.code, RefusalCode::Unavailable, "{name}: {refusal}");
    }
    outcome
}

fn shows_red(page: &Page) -> bool {
    let samples = page.raster.layout.samples();
    page.raster.data.chunks_exact(samples).any(|p| p[0] > 200 && p[1] < 60 && p[2] < 60)
}

/// A folder with a red drawing, a red page and a script that turns a page red.
fn bait() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("photic-render-html-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let red = "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='90'>\
               <rect width='90' height='90' fill='red'/></svg>";
    std::fs::write(folder.join("bait.svg"), red).expect("the bait");
    std::fs::write(folder.join("bait.html"), "<body bgcolor=red>").expect("the bait");
    std::fs::write(folder.join("bait.css"), "body{background:red!important}").expect("the bait");
    std::fs::write(folder.join("bait.js"), "document.body.style.background='red'").expect("bait");
    folder
}

/// Every way a page has to ask for something, all with this beginning of an address.
fn asks_everywhere(at: &str) -> String {
    format!(
        "<!doctype html><link rel=stylesheet href='{at}/bait.css'><link rel=preload as=image href='{at}/bait.svg'>\
         <link rel=dns-prefetch href='{at}'><link rel=preconnect href='{at}'><link rel=prefetch href='{at}/bait.html'>\
         <link rel=prerender href='{at}/bait.html'><link rel=manifest href='{at}/bait.html'><link rel=icon href='{at}/bait.svg'>\
         <script type=speculationrules>{{\"prerender\":[{{\"urls\":[\"{at}/bait.html\"]}}]}}</script>\
         <style>@import '{at}/bait.css';@font-face{{font-family:f;src:url({at}/bait.svg)}}\
         p{{font-family:f;background:url({at}/bait.svg)}}</style>\
         <script src='{at}/bait.js'></script><script type=module>import '{at}/bait.js'</script>\
         <p>a</p><img src='{at}/bait.svg'><picture><source srcset='{at}/bait.svg 2x'><img></picture>\
         <iframe src='{at}/bait.html'></iframe><object data='{at}/bait.svg'></object><embed src='{at}/bait.svg'>\
         <video src='{at}/bait.svg' poster='{at}/bait.svg' autoplay></video><audio src='{at}/a.mp3' autoplay></audio>\
         <svg width=90 height=90><image href='{at}/bait.svg' width=90 height=90 /><use href='{at}/bait.svg#a'/></svg>\
         <form id=f action='{at}/bait.html' method=post><input name=a></form><portal src='{at}/bait.html'></portal>\
         <frameset><frame src='{at}/bait.html'></frameset><input type=image src='{at}/bait.svg'><table background='{at}/bait.svg'><tr><td>x</table>\
         <script>const red=()=>document.body.style.background='red';\
         try{{fetch('{at}/bait.svg').then(r=>r.text()).then(red,()=>0)}}catch(e){{}}\
         try{{fetch('{at}/bait.svg',{{mode:'no-cors'}}).then(red,()=>0)}}catch(e){{}}\
         try{{const x=new XMLHttpRequest();x.onload=red;x.open('GET','{at}/bait.svg');x.send()}}catch(e){{}}\
         try{{const x=new XMLHttpRequest();x.open('GET','{at}/bait.svg',false);x.send();if(x.responseText)red()}}catch(e){{}}\
         try{{navigator.sendBeacon('{at}/b','x')}}catch(e){{}}\
         try{{new EventSource('{at}/e').onmessage=red}}catch(e){{}}\
         try{{new Worker('{at}/bait.js')}}catch(e){{}} try{{importScripts('{at}/bait.js')}}catch(e){{}}\
         try{{new WebSocket('{at}/w'.replace(/^[a-z]+/,'ws')).onopen=red}}catch(e){{}}\
         try{{new WebTransport('{at}/w').ready.then(red,()=>0)}}catch(e){{}}\
         try{{new Worker(URL.createObjectURL(new Blob([\"fetch('{at}/bait.svg').then(()=>postMessage(1))\"]))).onmessage=red}}catch(e){{}}\
         try{{open('{at}/bait.html')}}catch(e){{}} try{{f.submit()}}catch(e){{}}\
         setTimeout(()=>{{try{{location='{at}/bait.html'}}catch(e){{}}}},50)</script>"
    )
}

#[test]
fn nothing_outside_is_fetched_or_read() {
    let Some(browser) = patient() else { return };
    let trap = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
    trap.set_nonblocking(true).expect("a listener that does not wait");
    let port = trap.local_addr().expect("an address").port();
    let folder = bait();
    let here = folder.display().to_string();
    for at in [
        format!("http://127.0.0.1:{port}"),
        format!("https://localhost:{port}"),
        format!("ws://[::1]:{port}"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        format!("file://{here}"),
        here.clone(),
        format!("../../../../../../../../../../../../..{here}"),
        "file:///etc/passwd".to_owned(),
        "chrome://settings".to_owned(),
        format!("view-source:file://{here}"),
    ] {
        let outcome = survived(&browser, &at, &asks_everywhere(&at));
        assert!(trap.accept().is_err(), "`{at}` was connected to");
        let page = outcome.expect("a page");
        assert!(!shows_red(&page), "`{at}` was read");
        if at.starts_with("http") {
            assert!(page.facts.left_out.len() > 3, "{at}: {:?}", page.facts.left_out);
        }
    }
    // The bait is one: what is handed over is shown.
    let bytes = std::fs::read(folder.join("bait.svg")).expect("the bait");
    let files = [photic_render::SourceFile { reference: "bait.svg".to_owned(), bytes }];
    let request = Request { files: &files, ..Request::new(b"<img src=bait.svg>", Kind::Html) };
    assert!(shows_red(&browser.draw(&request).expect("a page")));
    assert!(trap.accept().is_err(), "somebody connected");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn a_script_without_end_is_too_slow() {
    let Some(browser) = strict() else { return };
    let cases = [
        ("a loop", "<p>a<script>for(;;);</script>"),
        ("promises", "<p>a<script>(function f(){Promise.resolve().then(f)})()</script>"),
        ("questions", "<p>a<script>for(;;){alert(1);confirm(2);prompt(3)}</script>"),
    ];
    for (name, page) in cases {
        let refusal = survived(&browser, name, page).expect_err("no end");
        assert_eq!(refusal.code, RefusalCode::TooSlow, "{name}: {refusal}");
    }
}

#[test]
fn a_page_that_takes_all_memory_is_stopped() {
    let Some(browser) = strict() else { return };
    let cases = [
        ("arrays", "<script>const a=[];for(;;)a.push(new Array(1e6).fill(1.5))</script>"),
        ("buffers", "<script>const a=[];for(;;)a.push(new Uint8Array(1e8).fill(1))</script>"),
        ("elements", "<script>for(;;)document.body.append(document.createElement('p'))</script>"),
        ("text", "<p id=t>x<script>for(;;)t.textContent+=t.textContent.slice(0,1e7)</script>"),
        (
            "canvases",
            "<script>const a=[];for(let i=0;i<500;i++){const c=document.createElement('canvas');\
             c.width=c.height=8000;c.getContext('2d').fillRect(0,0,8000,8000);a.push(c)}</script>",
        ),
    ];
    for (name, page) in cases {
        if let Err(refusal) = survived(&browser, name, &format!("<body>{page}")) {
            use RefusalCode::{Crashed, TooMuchMemory, TooSlow};
            assert!(matches!(refusal.code, Crashed | TooMuchMemory | TooSlow), "{name}: {refusal}");
        }
    }
    let arrays = format!("<body>{}", cases[0].1);
    let refusal = survived(&browser, "arrays", &arrays).expect_err("too much");
    assert_eq!(refusal.code, RefusalCode::TooMuchMemory, "{refusal}");
}

#[test]
fn large_pages_are_bounded() {
    let Some(browser) = strict() else { return };
    let nested = |depth: usize| "<div>".repeat(depth);
    let level = |n: usize| {
        let uses = format!("<use href='#l{}'/>", n - 1).repeat(10);
        format!("<g id='l{n}'>{uses}</g>")
    };
    let laughs: String = (1..9).map(level).collect();
    let cases = [
        ("1e7 high", "<div style='height:10000000px'>a</div>".to_owned()),
        ("1e9 high and wide", "<div style='height:1e9px;width:1e9px'>a</div>".to_owned()),
        ("a hundred thousand elements", "<i>x</i>".repeat(100_000)),
        ("a hundred thousand deep", nested(100_000)),
        (
            "has",
            format!(
                "<style>:has(:has(* *) ~ *) *:nth-child(2n+1 of :not(:has(b))){{color:red}}\
                 div:has(~ div div div){{margin:1px}}</style>{}",
                format!("{}x", nested(40)).repeat(100)
            ),
        ),
        ("a billion uses", format!("<svg><g id='l0'><rect width='9' height='9'/></g>{laughs}<use href='#l8'/></svg>")),
        ("filters", format!("<div style='filter:{};height:900px;background:red'>", "blur(90px) ".repeat(200))),
        ("variables", {
            let level = |n: usize| format!("--v{n}:{};", format!("var(--v{}) ", n - 1).repeat(10));
            let levels: String = (1..12).map(level).collect();
            format!("<style>p{{--v0:lol;{levels}}}p::before{{content:var(--v11)}}</style><p>a")
        }),
        ("shadows", "<p style='box-shadow:0 0 9999px 9999px red;text-shadow:0 0 9999px red'>a".repeat(300)),
        ("a table", format!("<table>{}", format!("<tr>{}", "<td>x".repeat(300)).repeat(300))),
        ("a table that lies", "<table><tr><td colspan=1000 rowspan=65534>".repeat(200)),
        ("a picture that lies", "<img src='data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAB//8AAf//CAYAAAA=' style='width:9e9px'>".to_owned()),
        ("frames in frames", "<script>if(parent===self||location.hash.length<9){for(let i=0;i<4;i++){const f=document.createElement('iframe');f.srcdoc=document.documentElement.outerHTML;document.body.append(f)}}</script>".to_owned()),
    ];
    for (name, page) in cases {
        match survived(&browser, name, &format!("<!doctype html><body>{page}")) {
            Ok(page) => {
                let raster = &page.raster;
                assert!(raster.width <= 1092 && raster.height <= 1092, "{name}: {raster:?}");
                assert!(raster.height >= 200, "{name}: {raster:?} cannot be seen");
            }
            Err(refusal) => assert_ne!(refusal.code, RefusalCode::Empty, "{name}"),
        }
    }
}

#[test]
fn what_a_page_does_besides_showing_itself_does_not_matter() {
    let (Some(browser), Some(strict)) = (patient(), strict()) else { return };
    let green = "<!doctype html><body style='background:#0a0'>";
    let cases = [
        ("a few questions", "<script>alert(1);confirm(2);prompt(3);print()</script>"),
        ("print in a loop", "<script>for(let i=0;i<200;i++)print()</script>"),
        (
            "refresh",
            "<meta http-equiv=refresh content=0><script>setInterval(()=>location.reload(),1)</script>",
        ),
        (
            "goes away",
            "<meta http-equiv=refresh content='0;url=https://example.org/'><script>location='https://example.org/'</script>",
        ),
        (
            "does not want to go",
            "<script>onbeforeunload=e=>{e.preventDefault();return e.returnValue='x'};location='https://example.org/'</script>",
        ),
        ("windows", "<script>for(let i=0;i<300;i++)open('about:blank#'+i)</script>"),
        (
            "windows by clicks",
            "<a id=a href=https://example.org/ target=_blank>a</a><script>for(let i=0;i<300;i++)a.click()</script>",
        ),
        (
            "downloads",
            "<a id=a download=x href=data:application/zip,xxxx>a</a><script>for(let i=0;i<50;i++)a.click()</script>",
        ),
        (
            "a file to choose",
            "<input type=file id=f><script>f.click();f.showPicker&&setTimeout(()=>{try{f.showPicker()}catch(e){}})</script>",
        ),
        (
            "a service worker",
            "<script>navigator.serviceWorker?.register('sw.js').catch(()=>0)</script>",
        ),
        (
            "a call",
            "<script>const p=new RTCPeerConnection({iceServers:[{urls:'stun:127.0.0.1:9'}]});p.createDataChannel('a');p.createOffer().then(o=>p.setLocalDescription(o))</script>",
        ),
        (
            "permissions",
            "<script>navigator.geolocation.getCurrentPosition(()=>0);navigator.mediaDevices?.getUserMedia({video:true}).catch(()=>0);Notification?.requestPermission();navigator.clipboard?.readText().catch(()=>0);document.documentElement.requestFullscreen().catch(()=>0)</script>",
        ),
        (
            "timers",
            "<script>for(let i=0;i<2000;i++)setInterval(()=>document.title=Math.random(),0)</script>",
        ),
        (
            "history",
            "<script>for(let i=0;i<500;i++){try{history.pushState(0,'','?'+i)}catch(e){}}</script>",
        ),
        (
            "storage",
            "<script>try{for(;;)localStorage[Math.random()]='x'.repeat(1e6)}catch(e){}indexedDB.open('a')</script>",
        ),
        (
            "policies",
            "<meta http-equiv=Content-Security-Policy content=\"default-src 'none';style-src 'unsafe-inline'\">",
        ),
        (
            "names",
            "<form name=getElementsByTagName></form><script>Object.prototype.width=9;Array.prototype.push=null;JSON.stringify=null</script>",
        ),
    ];
    for (name, page) in cases {
        let page = survived(&browser, name, &format!("{green}{page}")).expect(name);
        let at = page.raster.data.len() / 2 / 3 * 3;
        assert_eq!(page.raster.data[at..at + 3], [0, 170, 0], "{name}");
    }
    // Workers that never rest, and pages that end themselves.
    for (name, page) in [
        (
            "workers",
            "<script>for(let i=0;i<40;i++)new Worker(URL.createObjectURL(new Blob(['for(;;);'])))</script>",
        ),
        (
            "writes over itself",
            "<script>setTimeout(()=>{for(let i=0;i<99;i++){document.open();document.write('<p>'+i);document.close()}})</script>",
        ),
        ("closes itself", "<script>close();self.close()</script>"),
        ("blank", "<script>location='about:blank'</script>"),
    ] {
        let _ = survived(&strict, name, &format!("{green}{page}"));
    }
}

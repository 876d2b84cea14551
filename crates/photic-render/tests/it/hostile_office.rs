//! Office documents made to hurt: bounded, with nothing fetched, read or run.

use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

use photic_render::{Kind, ProgramLimits, RefusalCode, Request, draw};

use crate::data;
use crate::programs::{needed, office};

/// An archive of these parts, not compressed.
fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let (mut file, mut index) = (Vec::new(), Vec::new());
    for (name, content) in parts {
        let offset = file.len() as u32;
        let mut fields = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        fields.extend(crc32(content.as_bytes()).to_le_bytes());
        fields.extend((content.len() as u32).to_le_bytes());
        fields.extend((content.len() as u32).to_le_bytes());
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend(&fields);
        file.extend(name.as_bytes());
        file.extend(content.as_bytes());
        index.extend(b"PK\x01\x02\x14\x00");
        index.extend(&fields);
        index.extend([0; 10]);
        index.extend(offset.to_le_bytes());
        index.extend(name.as_bytes());
    }
    let (start, count) = (file.len() as u32, parts.len() as u16);
    file.extend(&index);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(count.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend((index.len() as u32).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0, 0]);
    file
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

/// A text with this body, whose relations lead to `target`.
fn docx(target: &str, body: &str) -> Vec<u8> {
    let kinds = "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'>\
        <Default Extension='rels' ContentType='application/vnd.openxmlformats-package.relationships+xml'/>\
        <Override PartName='/word/document.xml' ContentType='application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'/>\
        <Override PartName='/word/settings.xml' ContentType='application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml'/></Types>";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let list = |items: &str| {
        format!(
            "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{items}</Relationships>"
        )
    };
    let outside = |id: &str, kind: &str| {
        format!(
            "<Relationship Id='{id}' Type='{office}/{kind}' Target='{target}' TargetMode='External'/>"
        )
    };
    let root = list(&format!(
        "<Relationship Id='r1' Type='{office}/officeDocument' Target='word/document.xml'/>"
    ));
    let inner = list(&format!(
        "{}{}{}<Relationship Id='s' Type='{office}/settings' Target='settings.xml'/>",
        outside("i", "image"),
        outside("o", "oleObject"),
        outside("f", "subDocument")
    ));
    let template = list(&outside("t", "attachedTemplate"));
    let namespaces = format!(
        "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main' xmlns:r='{office}' \
         xmlns:v='urn:schemas-microsoft-com:vml' xmlns:o='urn:schemas-microsoft-com:office:office'"
    );
    let document = format!("<w:document {namespaces}><w:body>{body}</w:body></w:document>");
    let settings = format!("<w:settings {namespaces}><w:attachedTemplate r:id='t'/></w:settings>");
    zip(&[
        ("[Content_Types].xml", kinds),
        ("_rels/.rels", &root),
        ("word/document.xml", &document),
        ("word/_rels/document.xml.rels", &inner),
        ("word/settings.xml", &settings),
        ("word/_rels/settings.xml.rels", &template),
    ])
}

/// Every way a text has to ask for something.
fn asking(target: &str) -> Vec<u8> {
    let field = |words: &str| {
        format!(
            "<w:p><w:fldSimple w:instr='{words}'><w:r><w:t>field</w:t></w:r></w:fldSimple></w:p>"
        )
    };
    let body = format!(
        "<w:p><w:r><w:t>text</w:t></w:r></w:p><w:p><w:r><w:pict><v:shape style='width:90pt;height:90pt'>\
         <v:imagedata r:id='i' r:href='i'/></v:shape></w:pict></w:r></w:p>\
         <w:p><w:r><w:object><v:shape id='s' style='width:90pt;height:90pt'><v:imagedata r:id='i'/></v:shape>\
         <o:OLEObject Type='Link' ProgID='Word.Document' ShapeID='s' r:id='o' UpdateMode='Always'/></w:object></w:r></w:p>\
         <w:subDoc r:id='f'/>{}{}{}",
        field(&format!("INCLUDEPICTURE \"{target}\" \\d")),
        field(&format!("INCLUDETEXT \"{target}\"")),
        field(&format!("DDEAUTO sh \"-c\" \"touch /tmp/x; curl {target}\"")),
    );
    docx(target, &body)
}

/// A text of the other suite, with links and a macro that is to run when it is opened.
fn odt(target: &str) -> Vec<u8> {
    let content = format!(
        "<?xml version='1.0'?><office:document-content xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' \
         xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0' xmlns:draw='urn:oasis:names:tc:opendocument:xmlns:drawing:1.0' \
         xmlns:xlink='http://www.w3.org/1999/xlink' xmlns:svg='urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0' \
         xmlns:script='urn:oasis:names:tc:opendocument:xmlns:script:1.0' xmlns:ooo='http://openoffice.org/2004/office' \
         xmlns:dom='http://www.w3.org/2001/xml-events' office:version='1.2'>\
         <office:scripts><office:event-listeners><script:event-listener script:language='ooo:script' script:event-name='dom:load' \
         xlink:href='vnd.sun.star.script:Standard.M.Main?language=Basic&amp;location=document' xlink:type='simple'/></office:event-listeners></office:scripts>\
         <office:body><office:text><text:p>text</text:p><text:p><draw:frame svg:width='5cm' svg:height='5cm' text:anchor-type='as-char'>\
         <draw:image xlink:href='{target}' xlink:type='simple' xlink:show='embed' xlink:actuate='onLoad'/></draw:frame></text:p>\
         <text:p><draw:frame svg:width='5cm' svg:height='5cm' text:anchor-type='as-char'><draw:floating-frame xlink:href='{target}'/></draw:frame></text:p>\
         <text:section text:name='s'><text:section-source xlink:href='{target}'/><text:p>x</text:p></text:section></office:text></office:body></office:document-content>"
    );
    let module = format!(
        "<?xml version='1.0'?><script:module xmlns:script='http://openoffice.org/2000/script' script:name='M' script:language='StarBasic'>\
         Sub Main\nShell(\"sh -c 'curl {target}'\")\nThisComponent.Text.String = \"MACRO\"\nEnd Sub</script:module>"
    );
    let manifest = "<manifest:manifest xmlns:manifest='urn:oasis:names:tc:opendocument:xmlns:manifest:1.0'>\
        <manifest:file-entry manifest:full-path='/' manifest:media-type='application/vnd.oasis.opendocument.text'/>\
        <manifest:file-entry manifest:full-path='content.xml' manifest:media-type='text/xml'/>\
        <manifest:file-entry manifest:full-path='Basic/script-lc.xml' manifest:media-type='text/xml'/>\
        <manifest:file-entry manifest:full-path='Basic/Standard/script-lb.xml' manifest:media-type='text/xml'/>\
        <manifest:file-entry manifest:full-path='Basic/Standard/M.xml' manifest:media-type='text/xml'/></manifest:manifest>";
    let libraries = "<?xml version='1.0'?><library:libraries xmlns:library='http://openoffice.org/2000/library' \
        xmlns:xlink='http://www.w3.org/1999/xlink'><library:library library:name='Standard' library:link='false'/></library:libraries>";
    let library = "<?xml version='1.0'?><library:library xmlns:library='http://openoffice.org/2000/library' \
        library:name='Standard' library:readonly='false' library:passwordprotected='false'><library:element library:name='M'/></library:library>";
    zip(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("content.xml", &content),
        ("Basic/script-lc.xml", libraries),
        ("Basic/Standard/script-lb.xml", library),
        ("Basic/Standard/M.xml", &module),
        ("META-INF/manifest.xml", manifest),
    ])
}

#[test]
fn nothing_outside_is_fetched_read_or_run() {
    let Some(office) = office().filter(|_| needed()) else { return };
    let trap = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
    trap.set_nonblocking(true).expect("a listener that does not wait");
    let port = trap.local_addr().expect("an address").port();
    let bait =
        std::env::temp_dir().join(format!("photic-render-office-{}.svg", std::process::id()));
    let red = "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='90'>\
               <rect width='90' height='90' fill='red'/></svg>";
    std::fs::write(&bait, red).expect("the bait");
    for target in [
        format!("http://127.0.0.1:{port}/bait.svg"),
        format!("file://{}", bait.display()),
        "file:///etc/passwd".to_owned(),
        "http://169.254.169.254/latest/meta-data".to_owned(),
    ] {
        let rtf = format!(
            "{{\\rtf1 text {{\\field{{\\*\\fldinst INCLUDEPICTURE \"{target}\" \\\\d}}{{\\fldrslt x}}}}\
             {{\\*\\template {target}}}}}"
        );
        for (bytes, name) in
            [(asking(&target), "a.docx"), (odt(&target), "a.odt"), (rtf.into_bytes(), "a.rtf")]
        {
            let begin = Instant::now();
            let pdf = office.to_pdf(&bytes, name).expect(name);
            println!("{name} with {target}: {} bytes in {:?}", pdf.len(), begin.elapsed());
            let page = draw(&Request::new(&pdf, Kind::Pdf)).expect("a page");
            let samples = page.raster.layout.samples();
            let red = |p: &[u8]| p[0] > 200 && p[1] < 60 && p[2] < 60;
            assert!(!page.raster.data.chunks_exact(samples).any(red), "`{target}` was shown");
        }
    }
    assert!(trap.accept().is_err(), "somebody connected");
    std::fs::remove_file(&bait).expect("the bait goes");
}

#[test]
fn bombs_are_bounded() {
    let Some(mut office) = office().filter(|_| needed()) else { return };
    let time = Duration::from_secs(15);
    office.limits = ProgramLimits { time, memory: 700 << 20 };
    let bomb = std::fs::read(data("sources/office/bomb.docx")).expect("a source");
    let deep = format!("{}{}", "<w:p><w:r>".repeat(100_000), "</w:r></w:p>".repeat(100_000));
    let nested =
        "<w:tbl><w:tr><w:tc><w:p/>".repeat(2_000) + &"</w:tc></w:tr></w:tbl>".repeat(2_000);
    let paragraphs = "<w:p><w:r><w:t>word word word</w:t></w:r></w:p>".repeat(100_000);
    let groups = format!("{{\\rtf1 {}", "{\\b ".repeat(500_000));
    for (name, bytes, ending) in [
        ("eighty megabytes in one tenth", bomb, "docx"),
        ("a hundred thousand deep", docx("x", &deep), "docx"),
        ("tables in tables", docx("x", &nested), "docx"),
        ("a hundred thousand paragraphs", docx("x", &paragraphs), "docx"),
        ("groups without end", groups.into_bytes(), "rtf"),
    ] {
        let begin = Instant::now();
        let outcome = office.to_pdf(&bytes, &format!("a.{ending}"));
        let took = begin.elapsed();
        println!("{name}: {:?} in {took:?}", outcome.as_ref().map(Vec::len));
        assert!(took < time + Duration::from_mins(1), "`{name}` took {took:?}");
        if let Err(refusal) = outcome {
            use RefusalCode::{Corrupt, TooLarge, TooMuchMemory, TooSlow};
            let code = refusal.code;
            assert!(
                matches!(code, Corrupt | TooLarge | TooMuchMemory | TooSlow),
                "{name}: {refusal}"
            );
        }
    }
}

//! `read`: lines, limits, encodings, and refused formats.

use photic_tools::RefusalCode::{BadArguments, BadEncoding, BadSource, NotText, Stale, TooLarge};
use photic_tools::{Bounds, Tools};

use crate::world::{World, captured, code, lines, read, wait};

#[test]
fn lines_are_counted_from_1_and_both_ends_are_included() {
    let world = World::new();
    let tools = world.tools();
    let all = read(&tools, "inside.txt").unwrap();
    assert_eq!((all.text.as_str(), all.first_line, all.last_line), ("one\ntwo\nthree\n", 1, 3));
    assert_eq!((all.total_lines, all.truncated), (3, None));
    let cases = [
        ("2-3", "two\nthree\n", 2, 3),
        ("2-", "two\nthree\n", 2, 3),
        ("2", "two\n", 2, 2),
        ("1-1", "one\n", 1, 1),
        ("2-99", "two\nthree\n", 2, 3),
    ];
    for (asked, text, first, last) in cases {
        let reading = lines(&tools, "inside.txt", asked).unwrap();
        assert_eq!(
            (reading.text.as_str(), reading.first_line, reading.last_line),
            (text, first, last)
        );
        assert_eq!(reading.fresh, all.fresh, "the token is of the file, not of the lines");
    }
    let refusal = lines(&tools, "inside.txt", "4-").unwrap_err();
    assert_eq!((refusal.code, refusal.hint.as_str()), (BadArguments, "ask for lines 1-3"));
}

#[test]
fn a_range_that_is_none_is_not_taken() {
    for bad in ["", "0", "0-3", "5-3", "a-b", "-3", "1-2-3", "1..2", "+1", "１-２"] {
        assert!(bad.parse::<photic_tools::Lines>().is_err(), "{bad}");
        let json = serde_json::json!({ "source": "x", "lines": bad });
        assert!(serde_json::from_value::<photic_tools::ReadArguments>(json).is_err(), "{bad}");
    }
    let json = serde_json::json!({ "source": "x", "lines": 7 });
    let arguments: photic_tools::ReadArguments = serde_json::from_value(json).unwrap();
    assert_eq!(arguments.lines.unwrap().to_string(), "7");
    let unknown = serde_json::json!({ "source": "x", "line": "7" });
    assert!(serde_json::from_value::<photic_tools::ReadArguments>(unknown).is_err());
}

#[test]
fn a_long_file_is_cut_and_says_how_to_go_on() {
    let world = World::new();
    let lines_of_it: Vec<String> = (1..=5000).map(|line| format!("line {line}\n")).collect();
    let text = lines_of_it.concat();
    world.write("long.txt", &text);
    let tools = world.tools();
    // Following the hints gives the whole file, without repetition.
    let mut together = String::new();
    let mut reading = read(&tools, "long.txt").unwrap();
    assert_eq!((reading.first_line, reading.last_line, reading.total_lines), (1, 2000, 5000));
    loop {
        together += &reading.text;
        let Some(words) = &reading.truncated else { break };
        let next = words.rsplit(' ').next().unwrap();
        reading = lines(&tools, "long.txt", next).unwrap();
    }
    assert_eq!(together, text);
}

#[test]
fn bytes_are_bounded_and_a_line_that_is_too_long_is_cut_honestly() {
    let world = World::new();
    world.write("wide.txt", format!("{}\nshort\n", "é".repeat(1000)));
    let bounds = Bounds { reply_bytes: 101, ..Bounds::default() };
    let tools = Tools::builder().root(world.root()).bounds(bounds).build().unwrap();
    let reading = read(&tools, "wide.txt").unwrap();
    // Not inside of a character.
    assert_eq!(reading.text, "é".repeat(50));
    let words = reading.truncated.unwrap();
    assert!(words.contains("2001 bytes") && words.contains("first 100"), "{words}");
    assert!(words.contains("ask for lines 2"), "{words}");
    assert_eq!(lines(&tools, "wide.txt", "2").unwrap().text, "short\n");

    let bounds = Bounds { text_bytes: 13, ..Bounds::default() };
    let tools = Tools::builder().root(world.root()).bounds(bounds).build().unwrap();
    assert_eq!(code(read(&tools, "inside.txt")), TooLarge);
    let bounds = Bounds { text_bytes: 14, ..Bounds::default() };
    let tools = Tools::builder().root(world.root()).bounds(bounds).build().unwrap();
    assert!(read(&tools, "inside.txt").is_ok());
}

#[test]
fn pixels_are_refused_by_their_bytes_and_view_is_named() {
    let world = World::new();
    for name in ["bars.png", "page.jpg", "wave.webp"] {
        world.write("looks-like.txt", captured(name));
        let refusal = read(&world.tools(), "looks-like.txt").unwrap_err();
        assert_eq!(refusal.code, NotText, "{name}");
        assert!(refusal.hint.contains("`view`"), "{}", refusal.hint);
    }
    // A text file with the name of a picture is text.
    world.write("text.png", "not a picture\n");
    assert_eq!(read(&world.tools(), "text.png").unwrap().text, "not a picture\n");
}

#[test]
fn binary_data_is_refused_wherever_it_begins() {
    let world = World::new();
    for (name, bytes) in [
        ("zip", b"PK\x03\x04\x14\0\0\0".to_vec()),
        ("pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec()),
        ("nul", b"text\0text".to_vec()),
        ("late", [vec![b'a'; 300 << 10], vec![0]].concat()),
        ("torn", captured("bars.png")[..20].to_vec()),
    ] {
        world.write(name, bytes);
        assert_eq!(code(read(&world.tools(), name)), NotText, "{name}");
    }
    assert_eq!(code(read(&world.tools(), "img_0123456789abcdef")), NotText);
    assert_eq!(code(read(&world.tools(), "https://example.com/a.txt")), BadSource);
}

#[test]
fn utf_8_and_marked_utf_16_are_read_and_the_rest_is_named() {
    let world = World::new();
    let wide = |big: bool| {
        let unit = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        let text = "\u{feff}naïve 🦀\nsecond\n".encode_utf16().flat_map(unit);
        text.collect::<Vec<u8>>()
    };
    world.write("plain.txt", "naïve 🦀\nsecond\n");
    world.write("marked.txt", "\u{feff}naïve 🦀\nsecond\n");
    world.write("little.txt", wide(false));
    world.write("big.txt", wide(true));
    let tools = world.tools();
    for name in ["plain.txt", "marked.txt", "little.txt", "big.txt"] {
        assert_eq!(read(&tools, name).unwrap().text, "naïve 🦀\nsecond\n", "{name}");
    }
    world.write("latin.txt", b"caf\xe9\n");
    world.write("late.txt", [vec![b'a'; 300 << 10], b"caf\xe9\n".to_vec()].concat());
    world.write("half.txt", [wide(false), vec![0x20]].concat());
    world.write("lone.txt", [0xff, 0xfe, 0x00, 0xd8]);
    for name in ["latin.txt", "late.txt", "half.txt", "lone.txt"] {
        let refusal = read(&tools, name).unwrap_err();
        assert_eq!(refusal.code, BadEncoding, "{name}");
        assert!(refusal.hint.contains("UTF-8"));
    }
}

#[test]
fn an_svg_is_text_and_an_empty_file_is_empty() {
    let world = World::new();
    world.write("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>\n");
    world.write("empty.txt", "");
    let tools = world.tools();
    assert!(read(&tools, "drawing.svg").unwrap().text.starts_with("<svg"));
    let empty = read(&tools, "empty.txt").unwrap();
    assert_eq!((empty.text.as_str(), empty.first_line, empty.total_lines), ("", 0, 0));
    assert_eq!(code(lines(&tools, "empty.txt", "2")), BadArguments);
}

#[test]
fn a_token_is_fresh_until_a_byte_changes_and_belongs_to_one_file() {
    let world = World::new();
    world.write("twin.txt", "one\ntwo\nthree\n");
    let tools = world.tools();
    let token = read(&tools, "inside.txt").unwrap().fresh;
    let check = |source: &str| wait(tools.check_fresh(source, &token));
    assert_eq!(check("inside.txt"), Ok(()));
    assert_eq!(check("./folder/../inside.txt"), Ok(()));
    assert_eq!(code(check("twin.txt")), Stale);
    world.write("inside.txt", "one\ntwo\nthree!\n");
    assert_eq!(code(check("inside.txt")), Stale);
    world.write("inside.txt", "one\ntwo\nthree\n");
    assert_eq!(check("inside.txt"), Ok(()), "the same content again");
    // A later process.
    let json = serde_json::to_string(&token).unwrap();
    let again: photic_tools::FreshToken = serde_json::from_str(&json).unwrap();
    assert_eq!(wait(world.tools().check_fresh("inside.txt", &again)), Ok(()));
}

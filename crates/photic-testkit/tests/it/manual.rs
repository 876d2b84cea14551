//! Rules of the manual: the book lists every page, and first pages explain our words before they
//! use them.

use std::collections::BTreeSet;
use std::path::Path;

use crate::tidy::{listed, report, root};

/// Pages that a reader meets first, besides the how-to guides.
const FIRST_PAGES: [&str; 6] = [
    "README.md",
    "docs/README.md",
    "docs/comparison.md",
    "docs/troubleshooting.md",
    "docs/tutorial.md",
    "docs/what-photic-changes.md",
];

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("pages are UTF-8")
}

#[test]
fn the_book_lists_every_page_once() {
    let summary = read("docs/SUMMARY.md");
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut linked = BTreeSet::new();
    let mut complaints = Vec::new();
    for link in links {
        if !linked.insert(format!("docs/{link}")) {
            complaints.push(format!("`{link}` is listed twice"));
        }
    }
    let page = |path: &String| {
        let extension = Path::new(path).extension();
        path.starts_with("docs/") && extension.is_some_and(|extension| extension == "md")
    };
    let pages: BTreeSet<String> =
        listed().into_iter().filter(page).filter(|path| path != "docs/SUMMARY.md").collect();
    complaints.extend(pages.difference(&linked).map(|path| format!("`{path}` is not listed")));
    complaints.extend(linked.difference(&pages).map(|path| format!("`{path}` does not exist")));
    report("docs/SUMMARY.md lists the pages of the book", &complaints);
}

#[test]
fn first_pages_explain_our_words_before_they_use_them() {
    let glossary = read("docs/glossary.md");
    let words: Vec<&str> = glossary.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert!(words.len() > 30, "the glossary is broken: {words:?}");
    let guides = listed().into_iter().filter(|path| path.starts_with("docs/howto/"));
    let pages: Vec<String> = FIRST_PAGES.into_iter().map(str::to_owned).chain(guides).collect();
    assert!(pages.len() > 15, "the list of pages is broken: {pages:?}");
    let mut complaints = Vec::new();
    for page in pages {
        let prose = prose(&read(&page));
        for word in &words {
            if let Some(used) = used_before_its_link(&prose, word) {
                complaints.push(format!("{page}: `{used}` without a link to glossary.md#{word}"));
            }
        }
    }
    report("a word of ours is linked to the glossary where a page first uses it", &complaints);
}

/// The first use of a word in a text, unless it is a link to the glossary.
fn used_before_its_link(prose: &str, word: &str) -> Option<String> {
    let letter = |c: char| c.is_alphanumeric();
    let lower = prose.to_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..].find(stem(word)) {
        let start = from + at;
        let whole: String = lower[start..].chars().take_while(|c| letter(*c)).collect();
        let begins = !lower[..start].ends_with(letter);
        if begins && forms(word).contains(&whole) {
            let rest = &prose[start..];
            let end = rest.find(['[', ']', '\n']).unwrap_or(rest.len());
            let link = rest[end..].strip_prefix("](").and_then(|rest| rest.split(')').next());
            let linked = link.is_some_and(|link| link.ends_with(&format!("glossary.md#{word}")));
            return (!linked).then_some(whole);
        }
        from = start + whole.len().max(1);
    }
    None
}

/// The part of a word that all of its forms begin with.
fn stem(word: &str) -> &str {
    word.trim_end_matches(['e', 'y'])
}

/// The forms of a word: plural, past, and `-ing`.
fn forms(word: &str) -> BTreeSet<String> {
    let mut forms: BTreeSet<String> =
        ["", "s", "es", "d", "ed", "ing"].map(|end| format!("{word}{end}")).into();
    forms.insert(format!("{}ing", stem(word)));
    forms.insert(format!("{}ies", stem(word)));
    forms
}

/// The text of a page without code, comments and headings.
fn prose(page: &str) -> String {
    let mut text = String::new();
    let mut fenced = false;
    for line in page.lines() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if fence || fenced || line.starts_with('#') || line.trim_start().starts_with("<!--") {
            continue;
        }
        text.extend(line.split('`').step_by(2));
        text.push('\n');
    }
    text
}

#[test]
fn a_word_without_its_link_is_found() {
    let used = |text: &str, word: &str| used_before_its_link(&prose(text), word);
    assert_eq!(used("A [wire](glossary.md#wire) is; wires are.", "wire"), None);
    assert_eq!(used("Wires are. A [wire](glossary.md#wire).", "wire").as_deref(), Some("wires"));
    assert_eq!(used("Healing it.", "heal").as_deref(), Some("healing"));
    assert_eq!(used("The `wire` of\n```\na wire\n```\n# wire\nhealthy", "wire"), None);
    assert_eq!(used("healthy", "heal"), None);
    assert_eq!(used("A [policy](x.md).", "policy").as_deref(), Some("policy"));
}

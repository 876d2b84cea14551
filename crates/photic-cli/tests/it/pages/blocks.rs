//! The fenced blocks of a page, and what each command in them is said to print.

use std::ops::Range;
use std::path::Path;

use super::execute::Printed;
use super::output::{blessed, matches};
use crate::root;

/// Marks a difference that blessing cannot repair.
pub(super) const BROKEN: &str = "the command failed";

/// Languages of blocks that hold commands.
const SHELLS: [&str; 4] = ["sh", "bash", "shell", "zsh"];

/// A Markdown file.
pub(super) struct Page {
    path: String,
    lines: Vec<String>,
    blocks: Vec<Block>,
}

/// A fenced block.
struct Block {
    language: String,
    indent: String,
    /// The lines between the fences.
    body: Range<usize>,
    not_run: Option<String>,
    entries: Vec<Entry>,
}

/// A command of a console block.
struct Entry {
    command: String,
    /// The lines that show its output.
    shown: Range<usize>,
}

impl Page {
    /// Reads a page and finds its blocks.
    pub(super) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        Self::parse(&path.display().to_string(), &text)
    }

    /// Finds the blocks of a text.
    pub(super) fn parse(path: &str, text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut blocks = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let (indent, rest) = split_indent(&lines[at]);
            let Some(language) = rest.strip_prefix("```") else {
                at += 1;
                continue;
            };
            let closes = |line: &String| line.trim() == "```";
            let end = lines[at + 1..].iter().position(closes).map_or(lines.len(), |n| at + 1 + n);
            let language = language.trim().to_owned();
            let body = at + 1..end;
            let not_run = reason(&lines[..at]);
            let entries =
                if language == "console" { entries(&lines, &body, indent) } else { Vec::new() };
            let indent = indent.to_owned();
            blocks.push(Block { language, indent, body, not_run, entries });
            at = end + 1;
        }
        Self { path: path.to_owned(), lines, blocks }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the lines of the page outside of blocks, with their numbers.
    pub(super) fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let fenced = |at: &usize| {
            let whole = |block: &Block| block.body.start - 1..block.body.end + 1;
            self.blocks.iter().any(|block| whole(block).contains(at))
        };
        (0..self.lines.len()).filter(move |at| !fenced(at)).map(|at| (at + 1, &*self.lines[at]))
    }

    /// Returns the lines that hold commands: those after a dollar in a console block, all lines of
    /// shell blocks and of blocks without a language.
    pub(super) fn command_lines(&self) -> Vec<(usize, String)> {
        let mut lines = Vec::new();
        for block in &self.blocks {
            if block.language == "console" {
                let first = |entry: &Entry| (entry.shown.start, entry.command.clone());
                lines.extend(block.entries.iter().map(first));
            } else if block.language.is_empty() || SHELLS.contains(&&*block.language) {
                lines.extend(block.body.clone().map(|at| (at + 1, self.lines[at].clone())));
            }
        }
        lines
    }

    /// Returns the number of commands that are run.
    pub(super) fn commands(&self) -> usize {
        self.run_blocks().map(|block| block.entries.len()).sum()
    }

    /// Returns the commands that are run, in their order.
    pub(super) fn run_commands(&self) -> Vec<&str> {
        self.run_blocks().flat_map(|block| &block.entries).map(|entry| &*entry.command).collect()
    }

    /// Returns the blocks that are not run: line and reason.
    pub(super) fn not_run(&self) -> impl Iterator<Item = (usize, &str)> {
        let reason = |block: &'_ Block| block.body.start;
        self.blocks.iter().filter_map(move |block| Some((reason(block), block.not_run.as_deref()?)))
    }

    /// Returns blocks with commands that are neither run nor say why.
    pub(super) fn unmarked(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        for block in &self.blocks {
            let at = format!("{}:{}", self.path, block.body.start);
            let body = &self.lines[block.body.clone()];
            let dollar = body.iter().any(|line| line.trim_start().starts_with("$ "));
            if SHELLS.contains(&&*block.language) && block.not_run.is_none() {
                complaints.push(format!("{at}: a shell block says why it is not run"));
            } else if block.language != "console" && dollar {
                complaints.push(format!("{at}: a block with `$ ` is a console block"));
            } else if block.language == "console" && block.entries.is_empty() {
                complaints.push(format!("{at}: a console block has a line with `$ `"));
            }
        }
        complaints
    }

    fn run_blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.not_run.is_none())
    }

    /// Compares what the commands printed with what the page shows.
    pub(super) fn compare(&self, printed: &[Printed]) -> Vec<String> {
        let entries = self.run_blocks().flat_map(|block| &block.entries);
        let mut differences = Vec::new();
        for (entry, printed) in entries.zip(printed) {
            let shown = self.shown(entry);
            let at = format!("{}:{}: $ {}", self.path, entry.shown.start, entry.command);
            let told = shown.iter().any(|line| line.starts_with("error: "));
            let all = printed.lines.join("\n");
            if matches!(printed.code, Some(0 | 1)) || told {
                if !matches(&shown, &printed.lines) {
                    let shown = shown.join("\n");
                    differences.push(format!("{at}\n--- page\n{shown}\n--- printed\n{all}"));
                }
            } else {
                let code = printed.code.map_or("none".to_owned(), |code| code.to_string());
                differences.push(format!("{at}\n{BROKEN}, exit code {code}\n{all}"));
            }
        }
        differences
    }

    /// Writes what the commands printed into the page. Output of a command that failed is not
    /// written, unless the page shows an error.
    pub(super) fn bless(&mut self, printed: &[Printed]) {
        let entries: Vec<(Range<usize>, String)> = self
            .run_blocks()
            .flat_map(|block| block.entries.iter().map(|e| (e.shown.clone(), block.indent.clone())))
            .collect();
        // From the end, so that the numbers of earlier lines stay.
        for ((range, indent), printed) in entries.into_iter().zip(printed).rev() {
            let shown: Vec<String> = unindented(&self.lines[range.clone()], &indent);
            let told = shown.iter().any(|line| line.starts_with("error: "));
            if !(matches!(printed.code, Some(0 | 1)) || told) || matches(&shown, &printed.lines) {
                continue;
            }
            let lines = blessed(&shown, &printed.lines);
            let lines = lines.iter().map(|line| format!("{indent}{line}").trim_end().to_owned());
            self.lines.splice(range, lines);
        }
        let text = self.lines.join("\n") + "\n";
        std::fs::write(root().join(&self.path), text).unwrap();
    }

    fn shown(&self, entry: &Entry) -> Vec<String> {
        let whole = |block: &&Block| block.body.contains(&(entry.shown.start - 1));
        let indent = self.blocks.iter().find(whole).map_or("", |block| &*block.indent);
        unindented(&self.lines[entry.shown.clone()], indent)
    }
}

/// Returns the lines without the indentation of their block.
fn unindented(lines: &[String], indent: &str) -> Vec<String> {
    let line = |line: &String| line.strip_prefix(indent).unwrap_or(line.trim_start()).to_owned();
    lines.iter().map(line).collect()
}

fn split_indent(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start().len())
}

/// The reason in the comment above a block, if there is one.
fn reason(above: &[String]) -> Option<String> {
    let line = above.iter().rev().find(|line| !line.trim().is_empty())?;
    let reason = line.trim().strip_prefix("<!-- not run:")?.strip_suffix("-->")?;
    Some(reason.trim().to_owned())
}

/// The commands of a console block. Lines that begin with `> `, or follow a backslash, go on with
/// the command above.
fn entries(lines: &[String], body: &Range<usize>, indent: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut going_on = false;
    for at in body.clone() {
        let line = lines[at].strip_prefix(indent).unwrap_or(&lines[at]);
        let more = line.strip_prefix("> ");
        if let Some(command) = line.strip_prefix("$ ") {
            entries.push(Entry { command: command.to_owned(), shown: at + 1..at + 1 });
        } else if let Some(entry) = entries.last_mut() {
            if going_on || more.is_some() && entry.shown.is_empty() {
                entry.command.push('\n');
                entry.command.push_str(more.unwrap_or(line));
                entry.shown = at + 1..at + 1;
            } else {
                entry.shown.end = at + 1;
                continue;
            }
        }
        going_on = line.ends_with('\\');
    }
    entries
}

#[test]
fn a_page_is_taken_apart() {
    let text = "# P\n\n```console\n$ a b\none\n$ c \\\n  d\n```\n\n<!-- not run: it needs a key -->\n\
                ```console\n$ e\n```\n- x\n  ```console\n  $ f\n  two\n  ```\n```sh\ng\n```\n";
    let page = Page::parse("p.md", text);
    assert_eq!(page.run_commands(), ["a b", "c \\\n  d", "f"]);
    assert_eq!(page.not_run().collect::<Vec<_>>(), [(11, "it needs a key")]);
    assert_eq!(page.unmarked().len(), 1, "{:?}", page.unmarked());
    let printed = |line: &str, code| Printed { lines: vec![line.to_owned()], code: Some(code) };
    let right =
        [printed("one", 0), Printed { lines: Vec::new(), code: Some(0) }, printed("two", 0)];
    assert_eq!(page.compare(&right), Vec::<String>::new());
    let wrong = [printed("one", 0), printed("three", 0), printed("two", 2)];
    let differences = page.compare(&wrong);
    assert_eq!(differences.len(), 2, "{differences:?}");
    assert!(differences[1].contains(BROKEN));
    assert_eq!(page.prose().map(|(_, line)| line).filter(|line| *line == "- x").count(), 1);
}

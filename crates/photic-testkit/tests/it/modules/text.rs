//! Reads names from the text of a file: imports, paths and definitions.

use std::collections::BTreeSet;

/// The names of one file.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    /// The names that it imports or re-exports.
    pub(crate) imports: Vec<Import>,
    /// Paths of two or more names that are written outside of imports.
    pub(crate) paths: Vec<Vec<String>>,
    /// Names that are written outside of imports.
    pub(crate) names: BTreeSet<String>,
    /// Names of items that it defines.
    pub(crate) defined: BTreeSet<String>,
}

/// One name of a `use` declaration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// The name in this file.
    pub(crate) name: String,
    pub(crate) is_glob: bool,
    /// `true` if it is re-exported.
    pub(crate) is_public: bool,
}

/// A token of code, as far as names need it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    /// `::`
    Step,
    Symbol(char),
}

impl Tokens {
    /// Reads code without comments.
    pub(crate) fn read(code: &str) -> Self {
        let tokens = split(code);
        let mut read = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            // `use<'a>` in a type is not a declaration.
            let declares = tokens.get(at + 1) != Some(&Token::Symbol('<'));
            if tokens[at] == name("use") && declares {
                let is_public = at > 0 && is_visible(&tokens[..at]);
                let mut tree = Tree { tokens: &tokens, at: at + 1, is_public, found: Vec::new() };
                tree.read(&[]);
                at = tree.at;
                read.imports.append(&mut tree.found);
                continue;
            }
            at = read.take(&tokens, at);
        }
        read
    }

    /// Takes the name or path at a token, and returns the position after it.
    fn take(&mut self, tokens: &[Token], at: usize) -> usize {
        let Token::Name(first) = &tokens[at] else { return at + 1 };
        let keyword = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod"];
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        if let Some(Token::Name(before)) = before
            && keyword.contains(&before.as_str())
        {
            self.defined.insert(first.clone());
        }
        let mut path = vec![first.clone()];
        let mut end = at + 1;
        while let (Some(Token::Step), Some(Token::Name(next))) =
            (tokens.get(end), tokens.get(end + 1))
        {
            path.push(next.clone());
            end += 2;
        }
        if before != Some(&Token::Symbol('.')) {
            self.names.insert(first.clone());
            if path.len() > 1 && before != Some(&Token::Step) {
                self.paths.push(path);
            }
        }
        end
    }
}

/// Reads the tree of a `use` declaration.
struct Tree<'t> {
    tokens: &'t [Token],
    at: usize,
    is_public: bool,
    found: Vec<Import>,
}

impl Tree<'_> {
    fn read(&mut self, stem: &[String]) {
        let mut path = stem.to_vec();
        let mut alias = None;
        let mut is_glob = false;
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Name(word) if word == "as" => {
                    self.at += 1;
                    if let Some(Token::Name(word)) = self.tokens.get(self.at) {
                        alias = Some(word.clone());
                    }
                }
                Token::Name(word) => path.push(word.clone()),
                Token::Symbol('*') => is_glob = true,
                Token::Symbol('{') => {
                    self.at += 1;
                    let ends = |token: &Token| matches!(token, Token::Symbol('}' | ';'));
                    while self.tokens.get(self.at).is_some_and(|token| !ends(token)) {
                        self.read(&path);
                        if self.tokens.get(self.at) == Some(&Token::Symbol(',')) {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                Token::Symbol(',' | '}' | ';') => break,
                Token::Step | Token::Symbol(_) => {}
            }
            self.at += 1;
        }
        // `use a::{self}` imports `a`.
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let Some(last) = path.last() else { return };
        let name = alias.unwrap_or_else(|| last.clone());
        self.found.push(Import { path, name, is_glob, is_public: self.is_public });
    }
}

/// Returns `true` if the declaration that follows these tokens is visible to other files.
fn is_visible(before: &[Token]) -> bool {
    match before.last() {
        Some(Token::Name(word)) => word == "pub",
        // `pub(crate)`; a tuple or a call cannot come before `use`.
        Some(Token::Symbol(')')) => true,
        _ => false,
    }
}

fn name(word: &str) -> Token {
    Token::Name(word.to_owned())
}

/// Splits code into names and symbols. Literals are left out.
fn split(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let chars: Vec<char> = code.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let here = chars[at];
        match here {
            '"' => at = after_string(&chars, at),
            '\'' => at = after_quote(&chars, at),
            ':' if chars.get(at + 1) == Some(&':') => {
                tokens.push(Token::Step);
                at += 2;
            }
            _ if here.is_alphabetic() || here == '_' => {
                let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
                let end = at + chars[at..].iter().take_while(|c| is_part(c)).count();
                let word: String = chars[at..end].iter().collect();
                at = if let Some(end) = raw_string(&chars, &word, end) {
                    end
                } else {
                    tokens.push(Token::Name(word));
                    end
                };
            }
            _ if here.is_whitespace() => at += 1,
            _ => {
                tokens.push(Token::Symbol(here));
                at += 1;
            }
        }
    }
    tokens
}

/// Returns the end of a raw string whose prefix ends here, if it is one.
fn raw_string(chars: &[char], word: &str, at: usize) -> Option<usize> {
    let hashes = chars[at..].iter().take_while(|c| **c == '#').count();
    if !matches!(word, "r" | "br") || chars.get(at + hashes) != Some(&'"') {
        return None;
    }
    let start = at + hashes + 1;
    let ends = |end: &usize| {
        chars[*end] == '"'
            && chars[end + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    let end = (start..chars.len()).find(ends)?;
    Some(end + 1 + hashes)
}

fn after_string(chars: &[char], at: usize) -> usize {
    let mut at = at + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns the position after a character, or after the quote of a lifetime.
fn after_quote(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => {
            let end = chars[at + 3..].iter().position(|c| *c == '\'');
            end.map_or(chars.len(), |end| at + 3 + end + 1)
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_paths_and_names_are_read() {
        let read = Tokens::read(
            "pub use a::{b::C, self, d as e};\nuse f::*;\nfn g<'x>(h: &'x str) { crate::i::j('\"', \"k::l\", r#\"m::n\"#, h.o); }",
        );
        let names: Vec<&str> = read.imports.iter().map(|import| import.name.as_str()).collect();
        assert_eq!(names, ["C", "a", "e", "f"]);
        assert_eq!(read.imports[0].path, ["a", "b", "C"]);
        assert_eq!(
            read.imports.iter().map(|i| i.is_public).collect::<Vec<_>>(),
            [true, true, true, false]
        );
        assert!(read.imports[3].is_glob);
        assert_eq!(read.paths, [["crate", "i", "j"]]);
        assert!(read.names.contains("h") && !read.names.contains("o"));
        assert!(read.defined.contains("g"));
    }
}

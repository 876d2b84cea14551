//! Finds object keys that occur twice. Splicing bytes into a body can cause this unnoticed.
//!
//! It makes one pass over a body that `serde_json` has already accepted. It must never be given
//! anything else.

/// Returns the JSON pointers of every key that repeats one of its own object.
pub(super) fn duplicates(body: &[u8]) -> Vec<String> {
    let mut scan = Scan { body, at: 0, path: Vec::new(), found: Vec::new() };
    scan.value();
    scan.found
}

struct Scan<'b> {
    body: &'b [u8],
    at: usize,
    path: Vec<String>,
    found: Vec<String>,
}

impl Scan<'_> {
    /// Returns the next byte that is not white space; 0 at the end.
    fn peek(&mut self) -> u8 {
        while let Some(byte) = self.body.get(self.at) {
            if !byte.is_ascii_whitespace() {
                return *byte;
            }
            self.at += 1;
        }
        0
    }

    fn value(&mut self) {
        match self.peek() {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => drop(self.string()),
            _ => {
                while !matches!(self.peek(), b',' | b'}' | b']' | 0) {
                    self.at += 1;
                }
            }
        }
    }

    fn object(&mut self) {
        self.at += 1;
        let mut keys: Vec<String> = Vec::new();
        while self.peek() == b'"' {
            let key = self.string();
            self.path.push(key.replace('~', "~0").replace('/', "~1"));
            if keys.contains(&key) {
                self.found.push(format!("/{}", self.path.join("/")));
            }
            keys.push(key);
            self.peek();
            self.at += 1; // the colon
            self.value();
            self.path.pop();
            if self.peek() == b',' {
                self.at += 1;
            }
            self.peek();
        }
        self.at += 1;
    }

    fn array(&mut self) {
        self.at += 1;
        let mut index = 0;
        while !matches!(self.peek(), b']' | 0) {
            self.path.push(index.to_string());
            self.value();
            self.path.pop();
            index += 1;
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.body.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let end = self.at.min(self.body.len());
        // Only keys are read, and those are short. A 10 MB value must not be unescaped.
        if end - start > 256 {
            return String::new();
        }
        serde_json::from_slice(&self.body[start..end]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::duplicates;

    #[test]
    fn finds_repeated_keys_at_any_depth() {
        assert!(duplicates(br#"{"a":1,"b":{"a":[{"a":"\"a\":"},{"a":-1e5}]}}"#).is_empty());
        assert_eq!(
            duplicates(br#"{"a":1,"x/y":[0,{"k":true,"\u006b":null}],"a":{}}"#),
            ["/x~1y/1/k", "/a"]
        );
        assert!(duplicates(b"{ }").is_empty());
        assert!(duplicates(b" { \"a\" : [ ] , \"b\" : { } } ").is_empty());
    }
}

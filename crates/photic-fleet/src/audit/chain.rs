//! The chain: what a row's hash is made of, and whether the rows that are there are all of them.

use photic_store::{Error, Tenant};
use serde::{Serialize, Serializer};

use super::Audit;

/// A row of the audit, as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Counts the rows of the tenant, from 1.
    pub number: u64,
    /// The day it is kept with, counted from 1970.
    pub day: i32,
    /// When it was written: milliseconds since 1970, by the server's clock.
    pub time: i64,
    /// The public name of the key.
    pub key_id: Option<String>,
    /// What was done.
    pub what: String,
    /// To what.
    pub subject: String,
    /// What was decided.
    pub decision: String,
    /// Bytes that came in.
    pub bytes_in: u64,
    /// Bytes that went out.
    pub bytes_out: u64,
    /// The hash of the row before.
    #[serde(serialize_with = "hex")]
    pub previous: [u8; 32],
    /// Its own.
    #[serde(serialize_with = "hex")]
    pub hash: [u8; 32],
}

/// Before the first row.
pub(crate) const NOTHING: [u8; 32] = [0; 32];

impl Row {
    /// What its hash has to be, as a row of this tenant. Every field stands with its length, so no
    /// two rows are written in the same way.
    pub fn expected(&self, tenant: &Tenant) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("photic-fleet 2026 row of the audit");
        hasher.update(&self.previous);
        for number in [self.number, self.time as u64, self.bytes_in, self.bytes_out] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(&self.day.to_le_bytes());
        hasher.update(&[u8::from(self.key_id.is_some())]);
        let key = self.key_id.as_deref().unwrap_or_default();
        for text in [tenant.as_str(), key, &self.what, &self.subject, &self.decision] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// A chain that is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// How many rows there are.
    pub rows: u64,
    /// The number of the first; those before went with their days.
    pub first: u64,
    /// The number of the last.
    pub last: u64,
    /// The hash of the last. Noted somewhere else, it shows later that nobody wrote the chain anew.
    #[serde(serialize_with = "hex")]
    pub hash: [u8; 32],
}

/// What was found out about a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All is there, and as it was written.
    Whole(Verified),
    /// The first row that is changed, missing, or one too many.
    Broken {
        /// Its number.
        at: u64,
    },
}

/// What the rows have to fit between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The number of the first row, and the hash before it; `None` if all are gone with their days.
    pub(crate) first: Option<(u64, [u8; 32])>,
    /// The number of the last row, and its hash.
    pub(crate) last: (u64, [u8; 32]),
    /// The highest number there is.
    pub(crate) highest: Option<u64>,
}

impl Audit {
    /// Whether the chain of a tenant is whole, from the first row that did not go with its day.
    pub async fn verify(&self, tenant: &Tenant) -> Result<Verdict, Error> {
        loop {
            let frame = self.record().audit_frame(tenant).await?;
            let verdict = self.walk(tenant, &frame).await?;
            let is_whole = matches!(verdict, Verdict::Whole(_));
            // Days may have gone meanwhile.
            if is_whole || self.record().audit_frame(tenant).await?.first == frame.first {
                return Ok(verdict);
            }
        }
    }

    async fn walk(&self, tenant: &Tenant, frame: &Frame) -> Result<Verdict, Error> {
        let (last, hash) = frame.last;
        let (first, mut previous) = frame.first.unwrap_or((last + 1, hash));
        let mut next = first;
        'pages: while next <= last {
            let page = self.record().audit_page(tenant, next - 1).await?;
            if page.is_empty() {
                return Ok(Verdict::Broken { at: next });
            }
            for row in page {
                if row.number > last {
                    break 'pages;
                }
                let fits = row.number == next && row.previous == previous;
                if !fits || row.hash != row.expected(tenant) {
                    return Ok(Verdict::Broken { at: next });
                }
                (next, previous) = (next + 1, row.hash);
            }
        }
        if next <= last || previous != hash {
            return Ok(Verdict::Broken { at: next.min(last) });
        }
        if frame.highest.is_some_and(|highest| highest > last || frame.first.is_none()) {
            return Ok(Verdict::Broken { at: last + 1 });
        }
        Ok(Verdict::Whole(Verified { rows: next - first, first, last, hash }))
    }
}

fn hex<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(blake3::Hash::from_bytes(*bytes).to_hex().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            number: 3,
            day: 20_000,
            time: 1_800_000_000_000,
            key_id: None,
            what: "view".into(),
            subject: "img_0123456789abcdef".into(),
            decision: "shown".into(),
            bytes_in: 1,
            bytes_out: 2,
            previous: [7; 32],
            hash: NOTHING,
        }
    }

    #[test]
    fn every_field_counts() {
        let tenant = Tenant::new("acme");
        let mut hashes = vec![row().expected(&tenant), row().expected(&Tenant::new("acm"))];
        let changes: [fn(&mut Row); 12] = [
            |row| row.number = 4,
            |row| row.day = 20_001,
            |row| row.time += 1,
            |row| row.key_id = Some(String::new()),
            |row| row.key_id = Some("0123456789ab".into()),
            |row| row.what = "fix".into(),
            |row| row.subject.clear(),
            |row| row.decision = "refused".into(),
            |row| row.bytes_in = 2,
            |row| row.bytes_out = 1,
            |row| row.previous[31] = 8,
            // The same letters in other fields.
            |row| {
                row.what.push('i');
                row.subject.remove(0);
            },
        ];
        for change in changes {
            let mut row = row();
            change(&mut row);
            hashes.push(row.expected(&tenant));
        }
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
        // What was exported is checked by others, so a row has this hash for ever. Made by another
        // program from the same words.
        let known = "9fddd43ed72424e5182356b49ba6a7d1f506e6c0f2909c81b7c85ed51307607b";
        assert_eq!(blake3::Hash::from_bytes(row().expected(&tenant)).to_hex().as_str(), known);
    }
}

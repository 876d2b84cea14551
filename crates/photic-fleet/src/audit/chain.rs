//! The hash chain of the audit: the hash of a row, and the check that no row is missing.

use photic_store::{Error, Tenant};
use serde::{Serialize, Serializer};

use super::Audit;

/// A row of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its number, counted per tenant from 1.
    pub number: u64,
    /// The day it is kept with, counted from 1970.
    pub day: i32,
    /// Time in milliseconds since 1970, by the clock of the server.
    pub time: i64,
    /// Public name of the key.
    pub key_id: Option<String>,
    /// The action.
    pub what: String,
    /// The subject of the action.
    pub subject: String,
    /// The decision.
    pub decision: String,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Hash of the previous row.
    #[serde(serialize_with = "hex")]
    pub previous: [u8; 32],
    /// Hash of this row.
    #[serde(serialize_with = "hex")]
    pub hash: [u8; 32],
}

/// The hash before the first row.
pub(crate) const GENESIS_HASH: [u8; 32] = [0; 32];

impl Row {
    /// Computes the hash this row must have for this tenant. Every text is hashed with its length,
    /// so that different rows never have the same input.
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

/// A complete chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Number of rows.
    pub rows: u64,
    /// Number of the first row. Earlier ones were deleted with their days.
    pub first: u64,
    /// Number of the last row.
    pub last: u64,
    /// Hash of the last row. Stored elsewhere, it proves later that the chain was not rewritten.
    #[serde(serialize_with = "hex")]
    pub hash: [u8; 32],
}

/// Verdict on a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The chain is complete and unchanged.
    Whole(Verified),
    /// A row is changed, missing or superfluous.
    Broken {
        /// Number of the first such row.
        at: u64,
    },
}

/// Boundaries of the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChainBounds {
    /// Number of the first row and the hash before it; `None` if all rows were deleted with their
    /// days.
    pub(crate) first: Option<(u64, [u8; 32])>,
    /// Number and hash of the last row.
    pub(crate) last: (u64, [u8; 32]),
    /// The highest row number.
    pub(crate) highest: Option<u64>,
}

impl Audit {
    /// Verifies the chain of a tenant from its first remaining row.
    pub async fn verify(&self, tenant: &Tenant) -> Result<Verdict, Error> {
        loop {
            let frame = self.record().audit_frame(tenant).await?;
            let verdict = self.walk(tenant, &frame).await?;
            let is_whole = matches!(verdict, Verdict::Whole(_));
            // Days may have been deleted meanwhile.
            if is_whole || self.record().audit_frame(tenant).await?.first == frame.first {
                return Ok(verdict);
            }
        }
    }

    async fn walk(&self, tenant: &Tenant, frame: &ChainBounds) -> Result<Verdict, Error> {
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
            hash: GENESIS_HASH,
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
        // Exported rows are checked by others, so this hash must never change. It was computed by
        // another program.
        let known = "9fddd43ed72424e5182356b49ba6a7d1f506e6c0f2909c81b7c85ed51307607b";
        assert_eq!(blake3::Hash::from_bytes(row().expected(&tenant)).to_hex().as_str(), known);
    }
}

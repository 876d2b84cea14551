//! Fates of the media of a turn, as the record stores them: a byte for each, run-length encoded.

use photic::{Fate, Reason};

use crate::error::Error;

/// The fate of each medium of a turn, in the order of their numbers in the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fates(Vec<SentFate>);

/// The fate of one medium in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentFate {
    /// The fate and its reason.
    pub fate: Fate,
    /// Set if another picture was sent in its place: smaller, or of another type.
    pub is_remade: bool,
}

/// All reasons, in the order of their codes. Codes are stored, so new ones are added at the end.
const REASONS: [Reason; 22] = [
    Reason::Fits,
    Reason::ResultSlot,
    Reason::ErrorResult,
    Reason::RoleForbids,
    Reason::NoSight,
    Reason::NoSlot,
    Reason::Unreadable,
    Reason::TypeNotAccepted,
    Reason::SourceNotAccepted,
    Reason::FetchForbidden,
    Reason::FetchFailed,
    Reason::FetchTooLarge,
    Reason::FetchWrongKind,
    Reason::OverLimit,
    Reason::OverCount,
    Reason::OverBudget,
    Reason::Retired,
    Reason::Repeated,
    Reason::OnSheet,
    Reason::Summary,
    Reason::Dropped,
    Reason::Cleared,
];

/// Bit of a picture that was sent in the place of another.
const REMADE: u8 = 1 << 5;
/// Position of the two bits of the kind of a fate.
const KIND: u32 = 6;

impl SentFate {
    /// Returns its letter for people: `k` kept, `m` kept and made smaller or of another type, `h`
    /// moved to a user turn, `g` moved and remade, `r` retired, `x` dropped by the user, `=` repeated,
    /// `s` on a sheet, `c` cleared, `o` over a limit of the request, `-` left out for another reason,
    /// `!` refused.
    pub const fn letter(self) -> char {
        match (self.fate, self.is_remade) {
            (Fate::Keep(_), false) => 'k',
            (Fate::Keep(_), true) => 'm',
            (Fate::Hoist(_), false) => 'h',
            (Fate::Hoist(_), true) => 'g',
            (Fate::Elide(Reason::Retired), _) => 'r',
            (Fate::Elide(Reason::Dropped), _) => 'x',
            (Fate::Elide(Reason::Repeated), _) => '=',
            (Fate::Elide(Reason::OnSheet), _) => 's',
            (Fate::Elide(Reason::Cleared), _) => 'c',
            (Fate::Elide(Reason::OverCount | Reason::OverBudget), _) => 'o',
            (Fate::Elide(_), _) => '-',
            (Fate::Refuse(_), _) => '!',
        }
    }

    fn code(self) -> u8 {
        let kind = match self.fate {
            Fate::Keep(_) => 0,
            Fate::Hoist(_) => 1,
            Fate::Elide(_) => 2,
            Fate::Refuse(_) => 3,
        };
        let reason = REASONS.iter().position(|known| *known == self.fate.reason());
        let remade = if self.is_remade { REMADE } else { 0 };
        (kind << KIND) | remade | reason.unwrap_or_default() as u8
    }

    fn of(code: u8) -> Option<Self> {
        let reason = *REASONS.get(usize::from(code & (REMADE - 1)))?;
        let fate = match code >> KIND {
            0 => Fate::Keep(reason),
            1 => Fate::Hoist(reason),
            2 => Fate::Elide(reason),
            _ => Fate::Refuse(reason),
        };
        Some(Self { fate, is_remade: code & REMADE != 0 })
    }
}

impl Fates {
    /// Returns the fates, by the number of the medium in the request.
    pub fn as_slice(&self) -> &[SentFate] {
        &self.0
    }

    /// Returns the letters of all fates, with the length of each run before its letter: `k5r2k` are
    /// one that was kept, five that were retired, and two that were kept.
    pub fn letters(&self) -> String {
        let mut letters = String::new();
        let same = |one: &SentFate, other: &SentFate| one.letter() == other.letter();
        for run in self.0.chunk_by(same) {
            if run.len() > 1 {
                letters.push_str(&run.len().to_string());
            }
            letters.push(run[0].letter());
        }
        letters
    }

    /// Serializes the fates for [`Fates::read`]: for each run its length, in groups of seven bits,
    /// and a byte for the fate.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for run in self.0.chunk_by(PartialEq::eq) {
            let mut length = run.len();
            while length >= 1 << 7 {
                bytes.push((length & 0x7f) as u8 | 0x80);
                length >>= 7;
            }
            bytes.extend([length as u8, run[0].code()]);
        }
        bytes
    }

    /// Parses the result of [`Fates::to_bytes`].
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        /// Maximum number of media in a turn, so that a damaged record does not fill the memory.
        const MAX_MEDIA: usize = 1 << 20;
        let mut fates = Vec::new();
        let mut rest = bytes.iter().copied();
        while let Some(first) = rest.next() {
            let (mut length, mut last, mut shift) = (usize::from(first & 0x7f), first, 0);
            while last & 0x80 != 0 {
                shift += 7;
                last = rest.next().filter(|_| shift < 28).ok_or(Error::Damaged("fates"))?;
                length |= usize::from(last & 0x7f) << shift;
            }
            let fate = rest.next().and_then(SentFate::of).ok_or(Error::Damaged("fates"))?;
            if length > MAX_MEDIA - fates.len() {
                return Err(Error::Damaged("fates"));
            }
            fates.resize(fates.len() + length, fate);
        }
        Ok(Self(fates))
    }
}

impl FromIterator<SentFate> for Fates {
    fn from_iter<I: IntoIterator<Item = SentFate>>(fates: I) -> Self {
        Self(fates.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fate(fate: Fate) -> SentFate {
        SentFate { fate, is_remade: false }
    }

    #[test]
    fn fates_read_back_and_runs_are_short() {
        let kept = fate(Fate::Keep(Reason::Fits));
        let retired = fate(Fate::Elide(Reason::Retired));
        let remade = SentFate { fate: Fate::Hoist(Reason::ResultSlot), is_remade: true };
        let refused = fate(Fate::Refuse(Reason::Cleared));
        let runs = [vec![kept], vec![retired; 5000], vec![kept; 2], vec![remade, refused]];
        let fates: Fates = runs.concat().into_iter().collect();
        let bytes = fates.to_bytes();
        assert_eq!(bytes.len(), 2 + 3 + 2 + 2 + 2);
        assert_eq!(Fates::read(&bytes).unwrap(), fates);
        assert_eq!(fates.letters(), "k5000r2kg!");
        assert_eq!(Fates::read(&[]).unwrap(), Fates::default());
    }

    #[test]
    fn every_reason_has_a_code_of_its_own_that_stays() {
        // The codes are stored. A change of one would change what is read from older records.
        assert_eq!(REASONS[16], Reason::Retired);
        assert_eq!(REASONS[21], Reason::Cleared);
        for reason in REASONS {
            for sent in
                [Fate::Keep, Fate::Hoist, Fate::Elide, Fate::Refuse].map(|kind| kind(reason))
            {
                assert_eq!(SentFate::of(fate(sent).code()), Some(fate(sent)));
            }
        }
    }

    #[test]
    fn damaged_fates_are_an_error() {
        let huge = [0xff, 0xff, 0xff, 0x7f, 0];
        for bad in [&[1][..], &[0x80], &[1, 31], &huge, &[0xff, 0xff, 0xff, 0xff, 0xff, 0]] {
            assert!(Fates::read(bad).is_err(), "{bad:?}");
        }
    }
}

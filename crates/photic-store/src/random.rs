//! Random bytes of the system, for identifiers and secrets.

/// Error of a system that has no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system has no random numbers")]
pub struct NoRandomNumbers;

/// Returns random bytes.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], NoRandomNumbers> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomNumbers)?;
    Ok(bytes)
}

//! The time of lines in logs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the time since 1970.
pub(super) fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns the current time in UTC, as in RFC 3339.
pub(super) fn now() -> String {
    timestamp(since_1970())
}

fn timestamp(since: Duration) -> String {
    let (year, month, date) = date_of(since);
    let seconds = since.as_secs() % 86_400;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let millis = since.subsec_millis();
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Returns the year, the month and the day of a time in UTC.
pub(super) fn date_of(since: Duration) -> (u64, u64, u64) {
    let days = since.as_secs() / 86_400;
    // Years begin in March, so that leap days come last. Eras of 400 years have 146,097 days.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    (year, month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_names() {
        for (seconds, says) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (951_868_799, "2000-02-29T23:59:59.007Z"),
            (1_709_251_199, "2024-02-29T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
            (1_794_700_800, "2026-11-15T00:00:00.007Z"),
        ] {
            assert_eq!(timestamp(Duration::new(seconds, 7_000_000)), says);
        }
    }
}

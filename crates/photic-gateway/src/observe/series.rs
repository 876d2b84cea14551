//! Counters by name, histograms, and the text format of Prometheus. Counting never waits.

use std::fmt::{Display, Write as _};
use std::sync::OnceLock;
use std::time::Duration;

use crate::counter::Counter;

/// A growing list of at most `N` names. The last one is used for all names that do not fit.
#[derive(Debug)]
pub(crate) struct Names<const N: usize>([OnceLock<Box<str>>; N]);

/// The last name of a full list.
const LAST: &str = "other";

impl<const N: usize> Default for Names<N> {
    fn default() -> Self {
        Self([const { OnceLock::new() }; N])
    }
}

impl<const N: usize> Names<N> {
    /// Returns the index of a name, and adds the name if it is new and fits.
    pub(crate) fn place(&self, name: &str) -> usize {
        for (index, slot) in self.0.iter().enumerate().take(N - 1) {
            if &**slot.get_or_init(|| name.into()) == name {
                return index;
            }
        }
        N - 1
    }

    /// Iterates over all names with their index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &str)> {
        let known = self.0.iter().map_while(|slot| slot.get().map(AsRef::as_ref)).enumerate();
        known.chain([(N - 1, LAST)])
    }
}

/// A counter for each name.
#[derive(Debug)]
pub(crate) struct Named<const N: usize> {
    names: Names<N>,
    counts: [Counter; N],
}

impl<const N: usize> Default for Named<N> {
    fn default() -> Self {
        Self { names: Names::default(), counts: [const { Counter::new() }; N] }
    }
}

impl<const N: usize> Named<N> {
    /// Adds to the counter of a name.
    pub(crate) fn add(&self, name: &str, count: u64) {
        self.counts[self.names.place(name)].add(count);
    }

    /// Iterates over all names with a count above zero.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let all = self.names.iter().map(|(index, name)| (name, self.counts[index].get()));
        all.filter(|(_, count)| *count > 0)
    }
}

/// Upper bounds of buckets in microseconds, and their labels in seconds.
const BOUNDS: [(u64, &str); 15] = [
    (1_000, "0.001"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (5_000_000, "5"),
    (10_000_000, "10"),
    (30_000_000, "30"),
    (120_000_000, "120"),
    (600_000_000, "600"),
];

/// A histogram of durations.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    /// The counts of each bucket. The last bucket has no upper bound.
    buckets: [Counter; BOUNDS.len() + 1],
    micros: Counter,
}

impl Histogram {
    /// Counts a duration.
    pub(crate) fn record(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.iter().position(|(most, _)| micros <= *most);
        self.buckets[bucket.unwrap_or(BOUNDS.len())].add(1);
        self.micros.add(micros);
    }
}

/// A page for Prometheus.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

impl Page {
    /// Begins a family of samples.
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// Writes one sample. Label values contain nothing that has to be escaped.
    pub(crate) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (index, (label, value)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"{value}\"");
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }

    /// Writes a family of one sample.
    pub(crate) fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    /// Writes the samples of one histogram.
    pub(crate) fn histogram(&mut self, name: &str, label: (&str, &str), histogram: &Histogram) {
        let bucket = format!("{name}_bucket");
        let mut below = 0;
        let ends = BOUNDS.iter().map(|(_, end)| *end).chain(["+Inf"]);
        for (count, end) in histogram.buckets.iter().zip(ends) {
            below += count.get();
            self.sample(&bucket, &[label, ("le", end)], below);
        }
        let seconds = histogram.micros.get() as f64 / 1e6;
        self.sample(&format!("{name}_sum"), &[label], seconds);
        self.sample(&format!("{name}_count"), &[label], below);
    }

    /// Returns the text of the page.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded() {
        let named = Named::<4>::default();
        for name in ["a", "b", "c", "d", "e", "a"] {
            named.add(name, 1);
        }
        let all: Vec<_> = named.iter().collect();
        assert_eq!(all, [("a", 2), ("b", 1), ("c", 1), ("other", 2)]);
    }

    #[test]
    fn histograms_add_up() {
        let histogram = Histogram::default();
        for millis in [0, 1, 2, 700_000] {
            histogram.record(Duration::from_millis(millis));
        }
        let mut page = Page::default();
        page.histogram("h", ("route", "r"), &histogram);
        let text = page.finish();
        for line in [
            "h_bucket{route=\"r\",le=\"0.001\"} 2",
            "h_bucket{route=\"r\",le=\"0.005\"} 3",
            "h_bucket{route=\"r\",le=\"600\"} 3",
            "h_bucket{route=\"r\",le=\"+Inf\"} 4",
            "h_sum{route=\"r\"} 700.003",
            "h_count{route=\"r\"} 4",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in {text}");
        }
    }
}

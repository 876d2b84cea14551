//! Pictures that cannot be guessed and are all different.
//!
//! Some hundred charts are drawn once. Every picture is one of them with an additional chunk, so
//! that it is cheap to create and is stored separately.

use photic_mock::Chart;
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_testkit::SplitMix64;

/// Number of charts.
const CHARTS: u64 = 400;
/// Large enough to be read, small enough to decode a hundred thousand of them.
const SIZE: (u32, u32) = (128, 104);
/// Size of the last chunk of a PNG.
const END: usize = 12;

/// The charts.
#[derive(Debug)]
pub(super) struct ChartSet {
    charts: Vec<(Vec<u8>, String)>,
    noise: Vec<u8>,
}

/// A picture.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    pub(super) png: Vec<u8>,
    /// The description by a model that sees it.
    pub(super) words: String,
}

impl ChartSet {
    /// Creates pictures of at least `weight` bytes.
    pub(super) fn new(weight: usize) -> anyhow::Result<Self> {
        let mut charts = Vec::new();
        for seed in 0..CHARTS {
            let chart = Chart::of(seed);
            let accepts = &["image/png"];
            let options = EncodeOptions { accepts, prefer: Prefer::Lossless, ..Default::default() };
            let encoded = encode(&chart.draw(SIZE.0, SIZE.1), &options);
            let encoded = encoded.map_err(|no| anyhow::anyhow!("no chart: {}", no.refusal.says))?;
            charts.push((encoded.bytes, chart.words()));
        }
        let mut random = SplitMix64::of_pair(weight as u64, 0);
        let noise = (0..weight).map(|_| random.next_u64() as u8).collect();
        Ok(Self { charts, noise })
    }

    /// Creates the picture of a turn.
    pub(super) fn picture(&self, session: u32, turn: u32) -> Picture {
        let chart = SplitMix64::of_pair(session.into(), turn.into()).below(CHARTS as usize);
        let (png, words) = &self.charts[chart];
        let own = format!("{session} {turn} ");
        let padding = self.noise.len().saturating_sub(png.len() + own.len() + END);
        let data = [own.as_bytes(), &self.noise[..padding]].concat();
        let (before, end) = png.split_at(png.len() - END);
        let mut bytes = before.to_vec();
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend(b"noIz");
        bytes.extend_from_slice(&data);
        bytes.extend(photic_testkit::crc32(&[b"noIz", &data]).to_be_bytes());
        bytes.extend_from_slice(end);
        Picture { png: bytes, words: words.clone() }
    }
}

#[cfg(test)]
mod tests {
    use photic_mock::chart::{ChartReading, read_chart};

    use super::*;

    #[test]
    fn pictures_are_readable_heavy_enough_and_all_different() {
        let album = ChartSet::new(3000).unwrap();
        let (one, other) = (album.picture(1, 2), album.picture(1, 3));
        assert_ne!(one.png, other.png);
        for picture in [one, other] {
            let ChartReading::Chart(chart) = read_chart(&picture.png).unwrap() else {
                panic!("no chart")
            };
            assert_eq!(chart.words(), picture.words);
            assert!((3000..3100).contains(&picture.png.len()), "{}", picture.png.len());
        }
        for (png, words) in &album.charts {
            let ChartReading::Chart(chart) = read_chart(png).unwrap() else {
                panic!("no chart: {words}")
            };
            assert_eq!(chart.words(), *words);
        }
        assert!(ChartSet::new(0).unwrap().picture(1, 2).png.len() < 1500);
    }
}

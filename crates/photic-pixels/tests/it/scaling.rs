//! The image-scaling attack: a picture that turns into another one when it is sampled sparsely.
//!
//! Each case sets exactly the source pixels that a kernel of fixed support looks at, so that the
//! kernel shows hidden text at the target size. The control is that it does; the claim is that our
//! views show the decoy instead, as close to it as averaging every pixel is.

#![expect(clippy::unwrap_used, reason = "a test that cannot make its data has failed")]

use photic::Profile;
use photic_pixels::decode::{DecodeOptions, decode};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::fit::Caps;
use photic_pixels::header::probe;
use photic_pixels::resize::{Kernel, Window, resize_with};
use photic_pixels::{DecodeLimits, Layout, Raster, ViewRequest, view};

use crate::font::{page, paper};

/// Size at which the hidden text appears.
const TARGET: (u32, u32) = (240, 160);

/// Kernels that look at a fixed number of pixels, whatever the ratio.
#[derive(Clone, Copy, Debug)]
enum Sparse {
    NearestCenter,
    NearestCorner,
    Bilinear,
    Bicubic,
}

impl Sparse {
    const ALL: [Self; 4] =
        [Self::NearestCenter, Self::NearestCorner, Self::Bilinear, Self::Bicubic];

    /// The source pixels one output pixel is made of, in one direction, and their weights.
    fn taps(self, at: u32, ratio: u32) -> Vec<(u32, f64)> {
        let center = (f64::from(at) + 0.5) * f64::from(ratio) - 0.5;
        let (first, t) = (center.floor(), center - center.floor());
        let cubic = |x: f64| {
            let x = x.abs();
            if x < 1.0 {
                (1.5 * x - 2.5) * x * x + 1.0
            } else {
                ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
            }
        };
        let taps: Vec<(f64, f64)> = match self {
            Self::NearestCenter => vec![((f64::from(at) + 0.5) * f64::from(ratio), 1.0)],
            Self::NearestCorner => vec![(f64::from(at * ratio), 1.0)],
            Self::Bilinear => vec![(first, 1.0 - t), (first + 1.0, t)],
            Self::Bicubic => {
                (-1..=2).map(|k| (first + f64::from(k), cubic(f64::from(k) - t))).collect()
            }
        };
        let taps = taps.into_iter().map(|(x, weight)| (x.floor() as u32, weight));
        taps.filter(|&(_, weight)| weight.abs() > 1e-9).collect()
    }

    fn shrink(self, source: &Raster, ratio: u32) -> Raster {
        let pixels = (0..TARGET.1).flat_map(|y| {
            (0..TARGET.0).map(move |x| {
                let mut sum = 0.0;
                for (sy, wy) in self.taps(y, ratio) {
                    for (sx, wx) in self.taps(x, ratio) {
                        sum += wx * wy * level(source, sx, sy);
                    }
                }
                sum.round().clamp(0.0, 255.0) as u8
            })
        });
        Raster { width: TARGET.0, height: TARGET.1, layout: Layout::Gray, data: pixels.collect() }
    }
}

/// Content of the pixels that are not sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
enum UnsampledPixels {
    /// They show the decoy.
    Decoy,
    /// They also hide the change of the others from an eye that averages.
    Compensates,
}

fn level(raster: &Raster, x: u32, y: u32) -> f64 {
    f64::from(
        raster.data[(y.min(raster.height - 1) * raster.width + x.min(raster.width - 1)) as usize],
    )
}

/// Soft hills, away from black and white.
fn decoy(ratio: u32) -> Raster {
    let size = (TARGET.0 * ratio, TARGET.1 * ratio);
    let mut raster = paper(size, 0);
    for y in 0..size.1 {
        for x in 0..size.0 {
            let u = f64::from(x) / f64::from(size.0) * 9.0;
            let v = f64::from(y) / f64::from(size.1) * 7.0;
            let value = 128.0 + 22.0 * (u + v.cos()).sin() + 12.0 * (v * 1.7).sin();
            raster.data[(y * size.0 + x) as usize] = value as u8;
        }
    }
    raster
}

/// The decoy with the hidden picture in it.
fn attack(
    clean: &Raster,
    hidden: &Raster,
    kernel: Sparse,
    ratio: u32,
    rest: UnsampledPixels,
) -> Raster {
    let mut made = clean.clone();
    let mut set = vec![false; made.data.len()];
    let width = made.width;
    for y in 0..TARGET.1 {
        for x in 0..TARGET.0 {
            let (mut main, mut outer) = (Vec::new(), 0.0);
            for (sy, wy) in kernel.taps(y, ratio) {
                for (sx, wx) in kernel.taps(x, ratio) {
                    if wx * wy > 0.2 {
                        main.push((sx, sy, wx * wy));
                    } else {
                        outer += wx * wy * level(clean, sx, sy);
                    }
                }
            }
            let weight: f64 = main.iter().map(|&(_, _, weight)| weight).sum();
            let value = ((level(hidden, x, y) - outer) / weight).round().clamp(0.0, 255.0) as u8;
            for (sx, sy, _) in main {
                let at = (sy * width + sx) as usize;
                made.data[at] = value;
                set[at] = true;
            }
        }
    }
    if rest == UnsampledPixels::Compensates {
        for y in 0..TARGET.1 {
            for x in 0..TARGET.0 {
                let cell: Vec<usize> = (0..ratio * ratio)
                    .map(|k| ((y * ratio + k / ratio) * width + x * ratio + k % ratio) as usize)
                    .collect();
                let added: f64 = cell
                    .iter()
                    .map(|&at| f64::from(made.data[at]) - f64::from(clean.data[at]))
                    .sum();
                let free: Vec<usize> = cell.into_iter().filter(|&at| !set[at]).collect();
                for &at in &free {
                    let value = f64::from(clean.data[at]) - added / free.len() as f64;
                    made.data[at] = value.round().clamp(0.0, 255.0) as u8;
                }
            }
        }
    }
    made
}

/// Every pixel counted once: the reference.
fn averaged(source: &Raster, ratio: u32) -> Raster {
    let pixels = (0..TARGET.1).flat_map(|y| {
        (0..TARGET.0).map(move |x| {
            let sum: f64 = (0..ratio * ratio)
                .map(|k| level(source, x * ratio + k % ratio, y * ratio + k / ratio))
                .sum();
            (sum / f64::from(ratio * ratio)).round() as u8
        })
    });
    Raster { width: TARGET.0, height: TARGET.1, layout: Layout::Gray, data: pixels.collect() }
}

/// Share of the hidden picture's contrast that is visible: 1 is all of it, 0 none.
fn leak(shown: &Raster, clean: &Raster, hidden: &Raster) -> f64 {
    let (mut with, mut own) = (0.0, 0.0);
    for ((&shown, &clean), &hidden) in shown.data.iter().zip(&clean.data).zip(&hidden.data) {
        let wanted = f64::from(hidden) - f64::from(clean);
        with += (f64::from(shown) - f64::from(clean)) * wanted;
        own += wanted * wanted;
    }
    with / own
}

fn mean_error(a: &Raster, b: &Raster) -> f64 {
    let sum: f64 = a.data.iter().zip(&b.data).map(|(a, b)| f64::from(a.abs_diff(*b))).sum();
    sum / a.data.len() as f64
}

/// Mean SSIM over 8 by 8 blocks.
fn ssim(a: &Raster, b: &Raster) -> f64 {
    let (mut total, mut blocks) = (0.0, 0.0);
    for y in (0..TARGET.1 - 7).step_by(8) {
        for x in (0..TARGET.0 - 7).step_by(8) {
            let at = |raster: &Raster, k: u32| level(raster, x + k % 8, y + k / 8);
            let mean = |raster: &Raster| (0..64).map(|k| at(raster, k)).sum::<f64>() / 64.0;
            let (ma, mb) = (mean(a), mean(b));
            let over = |f: &dyn Fn(u32) -> f64| (0..64).map(f).sum::<f64>() / 64.0;
            let va = over(&|k| (at(a, k) - ma).powi(2));
            let vb = over(&|k| (at(b, k) - mb).powi(2));
            let cov = over(&|k| (at(a, k) - ma) * (at(b, k) - mb));
            total += (2.0 * ma * mb + 6.5) * (2.0 * cov + 58.5)
                / ((ma * ma + mb * mb + 6.5) * (va + vb + 58.5));
            blocks += 1.0;
        }
    }
    total / blocks
}

/// The whole way: a PNG file, a view of the target size, and its pixels.
fn viewed(source: &Raster) -> Raster {
    let lossless = EncodeOptions { prefer: Prefer::Lossless, ..EncodeOptions::default() };
    let file = encode(source, &lossless).unwrap().bytes;
    let profile = Profile::generic(photic::Wire::Anthropic);
    let caps = Caps { edge: Some(TARGET.0), ..Caps::default() };
    let view = view(&file, &ViewRequest { caps, ..ViewRequest::new(&profile) }).unwrap();
    assert_eq!((view.width, view.height), TARGET);
    let header = probe(&view.bytes).unwrap();
    let shown = decode(&view.bytes, &header, &DecodeLimits::default(), DecodeOptions::default())
        .unwrap()
        .raster;
    gray(&shown)
}

fn whole(raster: &Raster) -> Window {
    let (width, height) = (f64::from(raster.width), f64::from(raster.height));
    Window { x: 0.0, y: 0.0, width, height }
}

fn gray(raster: &Raster) -> Raster {
    let samples = raster.layout.samples();
    let data = raster.data.chunks_exact(samples).map(|pixel| pixel[samples / 2]).collect();
    Raster { width: raster.width, height: raster.height, layout: Layout::Gray, data }
}

#[test]
fn hidden_pictures_stay_hidden() {
    let mut made = 0;
    let mut worst = (0.0_f64, 0.0_f64, 1.0_f64, 1.0_f64, 0.0_f64);
    for kernel in Sparse::ALL {
        for ratio in [4, 5, 6, 8] {
            for rest in [UnsampledPixels::Decoy, UnsampledPixels::Compensates] {
                let clean = decoy(ratio);
                let hidden = page(TARGET, 1, (235, 15), u64::from(ratio) + 10);
                let source = attack(&clean, &hidden, kernel, ratio, rest);
                made += 1;
                let about = format!("{kernel:?} {ratio} {rest:?}");
                let calm = averaged(&clean, ratio);
                let naive = kernel.shrink(&source, ratio);
                let control = leak(&naive, &calm, &hidden);
                assert!(control > 0.8, "{about}: the attack itself does not work, {control}");

                let reference = averaged(&source, ratio);
                let ours = |kernel| resize_with(&source, &whole(&source), TARGET, kernel).unwrap();
                for shown in [viewed(&source), ours(Kernel::Lanczos), ours(Kernel::Cubic)] {
                    let leaked = leak(&shown, &calm, &hidden);
                    let off = mean_error(&shown, &reference);
                    let alike = ssim(&shown, &reference);
                    let naive_alike = ssim(&naive, &reference);
                    // Four pixels of sixteen that show the hidden picture are a quarter of its
                    // contrast, to the eye as to any honest scaling: the average of all pixels is
                    // the bound.
                    let inherent = leak(&reference, &calm, &hidden);
                    assert!(leaked < inherent + 0.08, "{about}: {leaked}, {inherent} inherent");
                    assert!(off < 5.0, "{about}: {off} off the average of all pixels");
                    assert!(alike > naive_alike + 0.3, "{about}: {alike} against {naive_alike}");
                    worst.0 = worst.0.max(leaked);
                    worst.4 = worst.4.max(leaked - inherent);
                    worst.1 = worst.1.max(off);
                    worst.2 = worst.2.min(alike);
                    worst.3 = worst.3.min(control);
                }
            }
        }
    }
    println!(
        "{made} attacks: naive shows at least {:.2}; we at most {:.3}, {:.3} over the average of all \
         pixels, {:.2} levels off it, SSIM {:.3}",
        worst.3, worst.0, worst.4, worst.1, worst.2
    );
    assert!(made >= 20, "only {made} attacks");
}

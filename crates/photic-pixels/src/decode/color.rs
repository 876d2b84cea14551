//! Conversion of color profiles to sRGB. A profile that cannot be used is ignored and reported.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use moxcms::{
    CicpColorPrimaries, CicpProfile, ColorProfile, DataColorSpace, Layout as Samples,
    MatrixCoefficients, TransferCharacteristics, Transform8BitExecutor, TransformOptions,
};

use crate::raster::{Layout, Raster};

/// Result of applying a color profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProfileApplied {
    /// Colors are sRGB, converted or not.
    Yes,
    /// The profile is broken or does not match the pixels.
    No,
}

/// A decoder's ICC profile: none, one, or one that could not be read.
pub(super) type IccProfile<'a> = Result<Option<Cow<'a, [u8]>>, ()>;

/// Converts the raster to sRGB by its ICC profile.
pub(super) fn by_icc(raster: &mut Raster, icc: IccProfile<'_>) -> ProfileApplied {
    let icc = match icc {
        Ok(None) => return ProfileApplied::Yes,
        Ok(Some(icc)) => icc,
        Err(()) => return ProfileApplied::No,
    };
    // A profile is untrusted data like any other part of the file.
    catch_unwind(AssertUnwindSafe(|| {
        let profile = ColorProfile::new_from_slice(&icc).ok()?;
        apply(raster, &profile)
    }))
    .ok()
    .flatten()
    .map_or(ProfileApplied::No, |()| ProfileApplied::Yes)
}

/// Converts the raster to sRGB by the code points of a `cICP` chunk: primaries and transfer.
pub(super) fn by_codes(raster: &mut Raster, primaries: u8, transfer: u8) -> ProfileApplied {
    catch_unwind(AssertUnwindSafe(|| {
        let profile = ColorProfile::new_from_cicp(CicpProfile {
            color_primaries: CicpColorPrimaries::try_from(primaries).ok()?,
            transfer_characteristics: TransferCharacteristics::try_from(transfer).ok()?,
            matrix_coefficients: MatrixCoefficients::Identity,
            full_range: true,
        });
        apply(raster, &profile)
    }))
    .ok()
    .flatten()
    .map_or(ProfileApplied::No, |()| ProfileApplied::Yes)
}

/// Converts the raster by a parsed profile, if the profile matches its layout.
fn apply(raster: &mut Raster, profile: &ColorProfile) -> Option<()> {
    match (raster.layout, profile.color_space) {
        (Layout::Gray, DataColorSpace::Gray) => gray(raster, profile),
        // Gray pixels with an RGB profile: its tone curve is close to sRGB's, so they stay as they
        // are.
        (Layout::Gray, DataColorSpace::Rgb) => Some(()),
        (Layout::Rgb, DataColorSpace::Rgb) => rgb(raster, profile, Samples::Rgb),
        (Layout::Rgba, DataColorSpace::Rgb) => rgb(raster, profile, Samples::Rgba),
        _ => None,
    }
}

/// A transform from a profile to sRGB.
fn to_srgb(
    profile: &ColorProfile,
    from: Samples,
    to: Samples,
) -> Option<Arc<Transform8BitExecutor>> {
    profile
        .create_transform_8bit(from, &ColorProfile::new_srgb(), to, TransformOptions::default())
        .ok()
}

/// Converts gray samples through a table.
fn gray(raster: &mut Raster, profile: &ColorProfile) -> Option<()> {
    let transform = to_srgb(profile, Samples::Gray, Samples::Rgb)?;
    let levels: Vec<u8> = (0..=255).collect();
    let mut table = vec![0; 256 * 3];
    transform.transform(&levels, &mut table).ok()?;
    for sample in &mut raster.data {
        *sample = table[usize::from(*sample) * 3 + 1];
    }
    Some(())
}

/// Converts color samples row by row.
fn rgb(raster: &mut Raster, profile: &ColorProfile, samples: Samples) -> Option<()> {
    if is_srgb(&*to_srgb(profile, Samples::Rgb, Samples::Rgb)?)? {
        return Some(());
    }
    let transform = to_srgb(profile, samples, samples)?;
    let stride = raster.width as usize * raster.layout.samples();
    let mut row = vec![0; stride];
    for part in raster.data.chunks_exact_mut(stride.max(1)) {
        transform.transform(part, &mut row).ok()?;
        part.copy_from_slice(&row);
    }
    Some(())
}

/// Returns `true` for a transform that leaves 729 sampled colors unchanged; most embedded profiles
/// are sRGB under some name.
fn is_srgb(transform: &Transform8BitExecutor) -> Option<bool> {
    let step = |n: usize| (n * 255 / 8) as u8;
    let cube: Vec<u8> =
        (0..729).flat_map(|n| [step(n / 81), step(n / 9 % 9), step(n % 9)]).collect();
    let mut moved = vec![0; cube.len()];
    transform.transform(&cube, &mut moved).ok()?;
    Some(cube.iter().zip(&moved).all(|(from, to)| from.abs_diff(*to) <= 1))
}

/// Converts four inks (255 is full) to red, green and blue.
pub(super) fn inks(
    cmyk: &[u8],
    width: u32,
    height: u32,
    icc: IccProfile<'_>,
) -> (Raster, ProfileApplied) {
    let mut data = vec![0; cmyk.len() / 4 * 3];
    let used = match icc {
        Ok(Some(icc)) => {
            catch_unwind(AssertUnwindSafe(|| inks_by_icc(cmyk, &mut data, width, &icc)))
                .ok()
                .flatten()
                .map_or(ProfileApplied::No, |()| ProfileApplied::Yes)
        }
        Ok(None) | Err(()) => ProfileApplied::No,
    };
    if used == ProfileApplied::No {
        for (inks, pixel) in cmyk.chunks_exact(4).zip(data.chunks_exact_mut(3)) {
            let light = 255 - u32::from(inks[3]);
            for (ink, sample) in inks.iter().zip(pixel) {
                *sample = ((255 - u32::from(*ink)) * light / 255) as u8;
            }
        }
    }
    (Raster { width, height, layout: Layout::Rgb, data }, used)
}

/// Converts inks by an ICC profile.
fn inks_by_icc(cmyk: &[u8], data: &mut [u8], width: u32, icc: &[u8]) -> Option<()> {
    let profile = ColorProfile::new_from_slice(icc).ok()?;
    if profile.color_space != DataColorSpace::Cmyk {
        return None;
    }
    let transform = to_srgb(&profile, Samples::Rgba, Samples::Rgb)?;
    let width = (width as usize).max(1);
    for (row, out) in cmyk.chunks_exact(width * 4).zip(data.chunks_exact_mut(width * 3)) {
        transform.transform(row, out).ok()?;
    }
    Some(())
}

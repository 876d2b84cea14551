//! Explains why an endpoint rejects a medium, with the numbers.
//!
//! The planner has decided; this module only finds the limit that was exceeded.

use photic::{Code, Plan, Reason, Sighting};

/// The problem behind a reason.
pub(super) const fn code(reason: Reason) -> Code {
    match reason {
        Reason::NoSight => Code::ImageToTextOnlyModel,
        Reason::Unreadable => Code::UnreadableImage,
        Reason::TypeNotAccepted => Code::UnsupportedType,
        Reason::SourceNotAccepted
        | Reason::FetchForbidden
        | Reason::FetchFailed
        | Reason::FetchTooLarge
        | Reason::FetchWrongKind => Code::SourceNotAccepted,
        Reason::OverLimit => Code::OverLimit,
        Reason::ErrorResult => Code::ImageInErrorResult,
        Reason::NoSlot | Reason::ResultSlot | Reason::RoleForbids => Code::ImageInForbiddenRole,
        Reason::Fits
        | Reason::OverCount
        | Reason::OverBudget
        | Reason::Retired
        | Reason::Repeated
        | Reason::OnSheet
        | Reason::Summary
        | Reason::Dropped
        | Reason::Cleared => Code::TooManyImages,
    }
}

/// The explanation of a problem.
pub(super) fn why(code: Code, sighting: &Sighting, plan: &Plan<'_>) -> String {
    let limits = &plan.profile.limits;
    let header = &sighting.header;
    match code {
        Code::OverLimit => past(sighting, plan),
        Code::TooManyImages => {
            let count = plan.survey.sightings.len();
            match (limits.images, limits.request_bytes) {
                (Some(most), _) if count > most as usize => {
                    format!("{count} images are sent, {most} are accepted")
                }
                (_, Some(most)) => {
                    format!("all of it is more than {most} bytes, which is the limit")
                }
                _ => code.says().to_owned(),
            }
        }
        Code::WrongLabel => format!(
            "it is called {} and is {}",
            sighting.declared.as_deref().unwrap_or("nothing"),
            header.media_type.unwrap_or("unknown")
        ),
        Code::UnsupportedType => {
            let name = header.media_type.or(sighting.declared.as_deref()).unwrap_or("its type");
            format!("{name} is not accepted")
        }
        Code::UnreadableImage if header.size.is_some() => {
            "it is cut off: its header reads well, its end is missing".to_owned()
        }
        _ => code.says().to_owned(),
    }
}

/// The limit that a medium exceeds.
fn past(sighting: &Sighting, plan: &Plan<'_>) -> String {
    let limits = &plan.profile.limits;
    let header = &sighting.header;
    let (width, height) = header.size.unwrap_or_default();
    let longest = width.max(height);
    if let Some(most) = limits.edge.filter(|&most| longest > most) {
        return format!("{width}x{height} px; the longest side may be {most}");
    }
    if let Some(least) = limits.min_edge.filter(|&least| width.min(height) < least) {
        return format!("{width}x{height} px; no side may be shorter than {least}");
    }
    let base64 = sighting.wire_bytes as u64;
    if let Some(most) = limits.image_base64_bytes.filter(|&most| base64 > most) {
        return format!("{base64} bytes of base64; {most} are accepted");
    }
    let raw = header.bytes as u64;
    if let Some(most) = limits.image_raw_bytes.or(limits.document_bytes).filter(|&most| raw > most)
    {
        return format!("{raw} bytes; {most} are accepted");
    }
    if let Some(crowd) = limits.crowd.filter(|crowd| longest > crowd.edge) {
        let (above, edge) = (crowd.above, crowd.edge);
        return format!(
            "{width}x{height} px; with more than {above} images, no side may be longer than {edge}"
        );
    }
    Code::OverLimit.says().to_owned()
}

//! The plan of a conversation, and the problem of each medium in it. The planner decides what an
//! endpoint rejects; nothing here knows a limit.

use photic::media::Found;
use photic::{Code, Fate, MediaId, Plan, Policy, Profile, Reason, Recipe, Sighting, Survey};

use super::diagnosis::{Problem, Remedy};
use super::explain;

/// The plan for an endpoint, without repairs that only a live request allows.
pub(super) fn planned(survey: Survey, profile: &Profile) -> Plan<'_> {
    let mut policy = Policy::hands_off();
    policy.pixels = true;
    let mut plan = photic::plan(survey, profile, &policy);
    let sheets: Vec<MediaId> = plan
        .recipes
        .iter()
        .filter(|(_, recipe)| matches!(recipe, Recipe::Sheet { .. }))
        .map(|(&id, _)| id)
        .collect();
    // Pictures of several records cannot share a sheet.
    for id in sheets {
        if let Some(Recipe::Sheet { members, .. }) = plan.recipes.remove(&id) {
            for member in members {
                plan.fates[member] = Fate::Elide(Reason::OverCount);
            }
        }
    }
    for fate in &mut plan.fates {
        if *fate == Fate::Hoist(Reason::ErrorResult) {
            *fate = Fate::Elide(Reason::ErrorResult);
        }
    }
    plan
}

/// The problem of one medium of a plan. The position of a shown picture is the agent's choice.
pub(super) fn ailment(plan: &Plan<'_>, sighting: &Sighting) -> Option<Problem> {
    let id = sighting.media;
    let fate = plan.fates[id];
    let why = |code: Code| explain::why(code, sighting, plan);
    if let Some(words) = plan.notice(id) {
        let code = explain::code(fate.reason());
        return Some(Problem { code, why: why(code), remedy: Remedy::Notice(words) });
    }
    if let Some(recipe) = plan.recipes.get(&id) {
        let media_type = sighting.header.media_type.unwrap_or_default();
        let is_taken = plan.profile.accepts_type(sighting.kind, media_type);
        let code = if is_taken { Code::OverLimit } else { Code::UnsupportedType };
        let reason = if is_taken { Reason::OverLimit } else { Reason::TypeNotAccepted };
        let remedy = Remedy::Remake(recipe.clone(), sighting.notice(reason));
        return Some(Problem { code, why: why(code), remedy });
    }
    if sighting.found == Found::Mended {
        let code = Code::MalformedDataUrl;
        return Some(Problem { code, why: why(code), remedy: Remedy::Respell });
    }
    sighting.mislabeled.then(|| {
        let code = Code::WrongLabel;
        let remedy = Remedy::Relabel(sighting.notice(Reason::TypeNotAccepted));
        Problem { code, why: why(code), remedy }
    })
}

//! Records a request as it was sent, for the next one.

use std::collections::BTreeMap;

use super::Plan;
use super::fate::{Fate, Reason};
use super::former::Former;
use super::recipe::Prepared;
use crate::media::MediaId;

impl Former {
    /// Records a request that was sent: the plan, the pictures that were made for it, and the media
    /// that its written body had no room for ([`Lowered::retired`](crate::Lowered::retired)).
    pub fn of(plan: &Plan<'_>, prepared: &Prepared, shed: &[MediaId]) -> Self {
        let plan = plan.as_prepared(prepared);
        let mut former = Self {
            profile: plan.profile.id.clone(),
            messages: plan.survey.requests.last().copied().unwrap_or(0),
            ..Self::default()
        };
        for (id, fate) in MediaId::first(plan.fates.len()).zip(&plan.fates) {
            let reason = match fate {
                _ if shed.contains(&id) => Some(Reason::OverBudget),
                fate => fate.hidden(),
            };
            match (reason, former.hidden.last_mut()) {
                (Some(reason), Some((run, _, last)))
                    if *run == reason && last.index() + 1 == id.index() =>
                {
                    *last = id;
                }
                (Some(reason), _) => former.hidden.push((reason, id, id)),
                (None, _) => {
                    let Some(recipe) = plan.recipes.get(&id) else { continue };
                    match former.made.iter_mut().find(|(other, _)| other == recipe) {
                        Some((_, media)) => media.push(id),
                        None => former.made.push((recipe.clone(), vec![id])),
                    }
                }
            }
        }
        former
    }
}

impl Plan<'_> {
    /// Returns the fates as they were carried out, and `true` for media in whose place another picture
    /// was sent. `shed` lists those that the written body had no room for.
    pub fn carried_out(&self, prepared: &Prepared, shed: &[MediaId]) -> Vec<(Fate, bool)> {
        let plan = self.as_prepared(prepared);
        let each = MediaId::first(plan.fates.len()).zip(&plan.fates).map(|(id, fate)| {
            if shed.contains(&id) {
                return (Fate::Elide(Reason::OverBudget), false);
            }
            (*fate, fate.is_shown() && plan.recipes.contains_key(&id))
        });
        each.collect()
    }

    /// Returns the media that gave way in this request, with their reasons. `shed` lists those that
    /// its written body had no room for. They stay out of sight in the next request
    /// ([`Policy::retired`](super::Policy)).
    pub fn gave_way(&self, shed: &[MediaId]) -> BTreeMap<MediaId, Reason> {
        let planned =
            self.ledger.retired.iter().filter_map(|&id| Some((id, self.fates[id].hidden()?)));
        planned.chain(shed.iter().map(|&id| (id, Reason::OverBudget))).collect()
    }
}

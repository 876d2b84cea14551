//! The pictures of a session: each has one number, by its first appearance.
//!
//! The numbers follow from the tree of messages, so nothing is stored for them, and no body is made
//! again.

use std::collections::BTreeMap;

use super::Store;
use crate::blobs::{BlobId, Blobs};
use crate::error::Error;
use crate::handle::Handle;
use crate::record::{
    ListedTurn, MessageNode, PicturePage, PictureRun, Record, SessionId, SessionPicture,
};

/// The pictures of a session, by their messages.
#[derive(Debug)]
pub(super) struct Pictures {
    /// The messages of the session, by their rows.
    nodes: BTreeMap<i64, MessageNode>,
    /// The blobs, by their first appearance.
    blobs: Vec<BlobId>,
    numbers: BTreeMap<BlobId, u32>,
}

impl Pictures {
    /// Numbers the pictures of a session.
    pub(super) fn of(nodes: Vec<MessageNode>, turns: &[ListedTurn]) -> Self {
        let mut pictures =
            Self { nodes: BTreeMap::new(), blobs: Vec::new(), numbers: BTreeMap::new() };
        for node in nodes {
            node.media.iter().for_each(|(_, blob)| pictures.add(*blob));
            pictures.nodes.insert(node.row, node);
        }
        // Media beside messages are rare, and come after those in messages.
        turns.iter().flat_map(|turn| &turn.beside).for_each(|(_, blob)| pictures.add(*blob));
        pictures
    }

    fn add(&mut self, blob: BlobId) {
        let number = self.blobs.len() as u32 + 1;
        if let std::collections::btree_map::Entry::Vacant(entry) = self.numbers.entry(blob) {
            entry.insert(number);
            self.blobs.push(blob);
        }
    }

    /// Returns the picture of each medium of a turn, in the order of the media.
    pub(super) fn runs(&self, turn: &ListedTurn) -> Vec<PictureRun> {
        let mut media = turn.beside.clone();
        let mut next = turn.tip;
        while let Some(node) = next.and_then(|row| self.nodes.get(&row)) {
            media.extend_from_slice(&node.media);
            // A parent is older, so this ends also in a damaged record.
            next = node.parent.filter(|parent| *parent < node.row);
        }
        media.sort_by_key(|(id, _)| *id);
        media.dedup_by_key(|(id, _)| *id);
        let mut runs: Vec<PictureRun> = Vec::new();
        let mut end = 0;
        for (id, blob) in media {
            let number = self.numbers.get(&blob).copied().unwrap_or_default();
            if id > end {
                runs.push(PictureRun { first: 0, count: id - end });
            }
            end = id + 1;
            match runs.last_mut() {
                Some(run) if run.first > 0 && run.first + run.count == number => run.count += 1,
                _ => runs.push(PictureRun { first: number, count: 1 }),
            }
        }
        runs
    }

    /// Returns the first turn that has each picture.
    fn first_turns(&self, turns: &[ListedTurn]) -> Vec<u64> {
        let mut first = vec![0; self.blobs.len()];
        let mut seen = std::collections::BTreeSet::new();
        for turn in turns {
            let mut blobs: Vec<BlobId> = turn.beside.iter().map(|(_, blob)| *blob).collect();
            let mut next = turn.tip;
            // What an earlier turn had is known.
            while let Some(node) = next.filter(|row| seen.insert(*row)) {
                let Some(node) = self.nodes.get(&node) else { break };
                blobs.extend(node.media.iter().map(|(_, blob)| *blob));
                next = node.parent;
            }
            for blob in blobs {
                let number = self.numbers.get(&blob).and_then(|number| number.checked_sub(1));
                if let Some(place) = number.and_then(|place| first.get_mut(place as usize))
                    && *place == 0
                {
                    *place = turn.number;
                }
            }
        }
        first
    }
}

impl<R: Record, B: Blobs> Store<R, B> {
    /// Returns up to `limit` pictures of a session from number `from`, counted from 1.
    pub async fn picture_page(
        &self,
        id: &SessionId,
        from: u32,
        limit: usize,
    ) -> Result<PicturePage, Error> {
        let session = self.session(id).await?;
        let turns = self.record.listed_turns(&session.id, 1, usize::MAX >> 1).await?;
        let pictures = Pictures::of(self.record.nodes(&session.id).await?, &turns);
        let first_turns = pictures.first_turns(&turns);
        let choices = self.record.choices(&session.id).await?;
        let secret = self.record.secret(&self.tenant).await?;
        let (start, total) = (from.max(1) as usize - 1, pictures.blobs.len());
        let page = pictures.blobs.iter().zip(&first_turns).zip(1_u32..);
        let page: Vec<_> = page.skip(start).take(limit).collect();
        let blobs = page.iter().map(|((blob, _), _)| **blob).collect();
        let mut facts = self.record.facts(&self.tenant, &blobs).await?;
        let picture = |((blob, first_turn), number): ((&BlobId, &u64), u32)| SessionPicture {
            number,
            digest: *blob.as_bytes(),
            handle: Handle::of(&secret, blob),
            facts: facts.remove(blob).unwrap_or_default(),
            first_turn: *first_turn,
            choice: choices.get(blob.as_bytes()).copied(),
        };
        let pictures = page.into_iter().map(picture).collect();
        Ok(PicturePage { pictures, total: total as u32 })
    }
}

#[cfg(test)]
mod tests {
    use photic::Wire;

    use super::*;
    use crate::record::TurnCost;

    fn node(row: i64, parent: Option<i64>, media: &[(u32, u8)]) -> MessageNode {
        let media = media.iter().map(|&(id, blob)| (id, BlobId::of(&[blob]))).collect();
        MessageNode { row, parent, media }
    }

    fn turn(number: u64, tip: i64) -> ListedTurn {
        ListedTurn {
            number,
            wire: Wire::OpenAiChat,
            time: 0,
            cost: TurnCost::default(),
            length: 0,
            digest: [0; 32],
            tip: Some(tip),
            beside: Vec::new(),
            arrived: None,
            fates: None,
        }
    }

    fn runs(pictures: &Pictures, turn: &ListedTurn) -> Vec<(u32, u32)> {
        pictures.runs(turn).iter().map(|run| (run.first, run.count)).collect()
    }

    #[test]
    fn pictures_are_numbered_by_their_first_appearance_also_on_branches() {
        let nodes = vec![
            node(1, None, &[(0, 10), (1, 11)]),
            node(2, Some(1), &[(2, 12)]),
            node(3, Some(2), &[]),
            // Another branch, with a picture of the first one and one more after an address.
            node(7, Some(1), &[(2, 10), (4, 13)]),
        ];
        let turns = [turn(1, 1), turn(2, 3), turn(3, 7)];
        let pictures = Pictures::of(nodes, &turns);
        assert_eq!(runs(&pictures, &turns[0]), [(1, 2)]);
        assert_eq!(runs(&pictures, &turns[1]), [(1, 3)]);
        assert_eq!(runs(&pictures, &turns[2]), [(1, 2), (1, 1), (0, 1), (4, 1)]);
        assert_eq!(pictures.first_turns(&turns), [1, 1, 2, 3]);
    }

    #[test]
    fn a_damaged_tree_ends() {
        let nodes = vec![node(1, Some(2), &[(0, 1)]), node(2, Some(1), &[(1, 2)])];
        let turns = [turn(1, 2)];
        let pictures = Pictures::of(nodes, &turns);
        assert_eq!(runs(&pictures, &turns[0]), [(1, 2)]);
        assert_eq!(pictures.first_turns(&turns), [1, 1]);
    }
}

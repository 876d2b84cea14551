//! Long sessions on every wire and every shipped profile: by default nothing is retired before a
//! limit is met, and the cached prefix breaks in at most one turn of eight.
#![expect(clippy::print_stdout, reason = "the figures belong to the run's output")]

mod breaks;
mod limits;
mod render;

use photic::Wire;

/// A session: how many pictures each turn brings, and who sends them.
#[derive(Clone, Debug)]
struct Session {
    wire: Wire,
    pictures: Vec<usize>,
    sender: Sender,
    /// Width and height of a picture, and the bytes it has beyond its header.
    size: (u32, u32),
    weight: usize,
}

/// Who sends the pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    /// A tool returns them.
    Tool,
    /// A person attaches them.
    Person,
}

impl Session {
    /// Sixty turns with a screenshot each.
    fn sixty(wire: Wire, sender: Sender) -> Self {
        Self::of(wire, sender, vec![1; 60])
    }

    /// Forty turns with one to four screenshots each.
    fn forty(wire: Wire, sender: Sender) -> Self {
        let pictures = (0..40_usize).map(|turn| 1 + (turn * 7 + turn * turn / 3) % 4);
        Self::of(wire, sender, pictures.collect())
    }

    fn of(wire: Wire, sender: Sender, pictures: Vec<usize>) -> Self {
        Self { wire, pictures, sender, size: (1280, 800), weight: 60 }
    }
}

#[test]
fn the_longer_shape_has_one_to_four_pictures_a_turn() {
    let pictures = Session::forty(Wire::Anthropic, Sender::Tool).pictures;
    assert_eq!(pictures.len(), 40);
    for count in 1..=4 {
        assert!(pictures.contains(&count), "{count} in {pictures:?}");
    }
    assert!(pictures.iter().all(|count| (1..=4).contains(count)));
}

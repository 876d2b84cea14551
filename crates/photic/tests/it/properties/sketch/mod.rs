//! Sketches: what proptest draws and shrinks. A sketch has no ids and no bytes; building it gives
//! every picture, text and call a number of its own.
//!
//! Strategies are boxed: by value they would not fit the stack of a test.

mod build;

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::sample::select;

use crate::properties::pictures::{Dress, Format, Mangle};
use crate::properties::shapes::Shape;
use crate::properties::talk::Style;

/// A conversation, drawn.
#[derive(Clone, Debug)]
pub(in crate::properties) struct Sketch {
    opening: Option<Operator>,
    rounds: Vec<Round>,
    closing: Vec<Said>,
    ids: Ids,
    style: Style,
}

/// Who is asked, what the model does, and what comes back.
#[derive(Clone, Debug)]
struct Round {
    said: Vec<Said>,
    thinks: bool,
    words: Option<Flavor>,
    refuses: bool,
    picture: Option<(Format, Dress)>,
    /// One for each call.
    answers: Vec<Answer>,
    order: AnswerOrder,
    /// Said before the answer of that index.
    between: Option<(usize, Said)>,
    orphan: Option<(Orphan, Answer)>,
}

#[derive(Clone, Debug)]
enum Said {
    User(Vec<Piece>),
    Operator(Operator),
}

#[derive(Clone, Debug)]
struct Operator {
    developer: bool,
    words: Flavor,
    picture: Option<(Format, Dress)>,
}

#[derive(Clone, Debug)]
struct Answer {
    fate: AnswerFate,
    error: bool,
    content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerFate {
    Arrives,
    /// Behind what the model does next.
    Late,
    Missing,
}

#[derive(Clone, Debug)]
enum Content {
    Nothing,
    Pieces(Vec<Piece>),
    Serialized(Shape, Vec<Piece>),
}

#[derive(Clone, Debug)]
enum Piece {
    Words(Flavor),
    Picture(Format, Dress),
    Paper,
    Serialized(Shape, Vec<Piece>),
    Strange,
}

/// What a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavor {
    Plain,
    Escapes,
    Unicode,
    Json,
    Prose,
    Long,
    Blank,
    Empty,
}

#[derive(Clone, Copy, Debug)]
enum AnswerOrder {
    AsCalled,
    Reversed,
    Rotated,
}

#[derive(Clone, Copy, Debug)]
enum Orphan {
    /// Its id was never called.
    Stranger,
    /// Its id was answered already.
    Again,
}

#[derive(Clone, Copy, Debug)]
enum Ids {
    Unique,
    /// Every turn counts from one again.
    Restart,
    /// Ids that read like orders.
    Instruction,
}

/// Conversations of up to that many rounds, damaged in every way we know.
pub(in crate::properties) fn sketches(rounds: usize) -> impl Strategy<Value = Sketch> {
    let ids =
        prop_oneof![5 => Just(Ids::Unique), 2 => Just(Ids::Restart), 1 => Just(Ids::Instruction)];
    (weighted(0.5, operator()), vec(round(), 1..=rounds), vec(said(), 0..=2), ids, style())
        .prop_map(|(opening, rounds, closing, ids, style)| Sketch {
            opening,
            rounds,
            closing,
            ids,
            style,
        })
}

fn style() -> impl Strategy<Value = Style> {
    any::<(bool, bool, bool, bool, bool, bool)>().prop_map(
        |(pretty, list_last, strings, split_results, join_user, unknown_fields)| Style {
            pretty,
            list_last,
            strings,
            split_results,
            join_user,
            unknown_fields,
        },
    )
}

fn round() -> BoxedStrategy<Round> {
    let order = prop_oneof![
        4 => Just(AnswerOrder::AsCalled),
        1 => Just(AnswerOrder::Reversed),
        1 => Just(AnswerOrder::Rotated),
    ];
    let orphan = (select(&[Orphan::Stranger, Orphan::Again][..]), answer());
    let model = (
        weighted(0.15, Just(())),
        weighted(0.5, flavor()),
        weighted(0.1, Just(())),
        weighted(0.04, picture()),
    );
    (
        vec(said(), 0..=2),
        model,
        vec(answer(), 0..=4),
        order,
        weighted(0.15, (0..4usize, said())),
        weighted(0.1, orphan),
    )
        .prop_map(|(said, model, answers, order, between, orphan)| {
            let (thinks, words, refuses, picture) = model;
            let (thinks, refuses) = (thinks.is_some(), refuses.is_some());
            Round { said, thinks, words, refuses, picture, answers, order, between, orphan }
        })
        .boxed()
}

fn said() -> BoxedStrategy<Said> {
    prop_oneof![
        6 => vec(user_piece(), 1..=3).prop_map(Said::User),
        1 => operator().prop_map(Said::Operator),
    ]
    .boxed()
}

fn operator() -> BoxedStrategy<Operator> {
    (any::<bool>(), flavor(), weighted(0.1, picture()))
        .prop_map(|(developer, words, picture)| Operator { developer, words, picture })
        .boxed()
}

fn answer() -> BoxedStrategy<Answer> {
    let fate = prop_oneof![
        14 => Just(AnswerFate::Arrives),
        1 => Just(AnswerFate::Late),
        2 => Just(AnswerFate::Missing),
    ];
    (fate, weighted(0.15, Just(())), content())
        .prop_map(|(fate, error, content)| Answer { fate, error: error.is_some(), content })
        .boxed()
}

fn content() -> BoxedStrategy<Content> {
    prop_oneof![
        1 => Just(Content::Nothing),
        6 => vec(piece(), 1..=3).prop_map(Content::Pieces),
        4 => serialized().prop_map(|(shape, pieces)| Content::Serialized(shape, pieces)),
    ]
    .boxed()
}

fn user_piece() -> BoxedStrategy<Piece> {
    prop_oneof![
        9 => piece(),
        1 => serialized().prop_map(|(shape, pieces)| {
            // A user's own JSON stays as it is.
            let shape = if shape.is_exact() { shape } else { Shape::Mcp };
            Piece::Serialized(shape, pieces)
        }),
    ]
    .boxed()
}

fn piece() -> BoxedStrategy<Piece> {
    prop_oneof![
        8 => flavor().prop_map(Piece::Words),
        6 => picture().prop_map(|(format, dress)| Piece::Picture(format, dress)),
        1 => Just(Piece::Paper),
        1 => Just(Piece::Strange),
    ]
    .boxed()
}

fn picture() -> BoxedStrategy<(Format, Dress)> {
    let dress = prop_oneof![
        8 => Just(Dress::Proper),
        1 => Just(Dress::Mislabeled),
        2 => Just(Dress::Address),
        1 => Just(Dress::Local),
        2 => mangle().prop_map(Dress::Mangled),
    ];
    (format(), dress).boxed()
}

fn format() -> impl Strategy<Value = Format> {
    prop_oneof![
        6 => Just(Format::Png),
        1 => Just(Format::Tall),
        1 => Just(Format::Heavy),
        1 => Just(Format::Jpeg),
        1 => Just(Format::Gif),
        1 => Just(Format::Webp),
        1 => Just(Format::Bmp),
        1 => Just(Format::Svg),
        1 => Just(Format::Html),
        1 => Just(Format::Signature),
    ]
}

fn mangle() -> impl Strategy<Value = Mangle> {
    select(
        &[
            Mangle::Uppercase,
            Mangle::Parameters,
            Mangle::UrlSafe,
            Mangle::Unpadded,
            Mangle::Lines,
            Mangle::Percent,
            Mangle::Nickname,
            Mangle::NoType,
            Mangle::Nested,
            Mangle::Spaces,
            Mangle::Garbage,
        ][..],
    )
}

/// Words and pictures for one string, at least one picture among them.
fn serialized() -> BoxedStrategy<(Shape, Vec<Piece>)> {
    let other = prop_oneof![flavor().prop_map(Piece::Words), inline_picture()];
    let pieces = (inline_picture(), vec(other, 0..=2), any::<bool>());
    (select(&Shape::ALL[..]), pieces)
        .prop_map(|(shape, (picture, others, is_first))| {
            let mut pieces = others;
            pieces.insert(if is_first { 0 } else { pieces.len() }, picture);
            (shape, fitting(shape, pieces))
        })
        .boxed()
}

fn inline_picture() -> BoxedStrategy<Piece> {
    // Not by address: what only names a picture in a text is left alone.
    let dress = prop_oneof![6 => Just(Dress::Proper), 1 => Just(Dress::Mislabeled)];
    (format(), dress).prop_map(|(format, dress)| Piece::Picture(format, dress)).boxed()
}

/// What of the pieces the shape can hold.
fn fitting(shape: Shape, mut pieces: Vec<Piece>) -> Vec<Piece> {
    for piece in &mut pieces {
        if let Piece::Picture(format, _) = piece
            && !shape.shows(*format)
        {
            *format = Format::Png;
        }
    }
    if shape.is_single() {
        pieces.retain(|piece| matches!(piece, Piece::Picture(..)));
        pieces.truncate(1);
    }
    pieces
}

fn flavor() -> impl Strategy<Value = Flavor> {
    prop_oneof![
        8 => Just(Flavor::Plain),
        2 => Just(Flavor::Escapes),
        1 => Just(Flavor::Unicode),
        1 => Just(Flavor::Json),
        1 => Just(Flavor::Prose),
        1 => Just(Flavor::Long),
        1 => Just(Flavor::Blank),
        1 => Just(Flavor::Empty),
    ]
}

//! From a sketch to a conversation: numbers, ids, and the order in which answers arrive.

use super::{
    Answer, AnswerFate, AnswerOrder, Content, Flavor, Ids, Operator, Orphan, Piece, Round, Said,
    Sketch,
};
use crate::properties::pictures::{Dress, Format, Picture};
use crate::properties::talk::{self, Call, Event, MODEL, OPERATOR, REMOTE, TOOL, Talk, Turn, USER};

impl Sketch {
    /// The conversation it stands for.
    pub(in crate::properties) fn build(&self) -> Talk {
        let mut builder = Builder { ids: self.ids, ..Builder::default() };
        if let Some(opening) = &self.opening {
            builder.operator(opening);
        }
        for (index, round) in self.rounds.iter().enumerate() {
            builder.round(round, index == 0);
        }
        let late = std::mem::take(&mut builder.late);
        builder.events.extend(late.into_iter().map(Event::Answer));
        self.closing.iter().for_each(|said| builder.said(said));
        Talk { events: builder.events, style: self.style }
    }
}

struct Builder {
    events: Vec<Event>,
    late: Vec<talk::Answer>,
    ids: Ids,
    pictures: usize,
    texts: usize,
    calls: usize,
    papers: usize,
}

impl Default for Builder {
    fn default() -> Self {
        let (events, late) = (Vec::new(), Vec::new());
        Self { events, late, ids: Ids::Unique, pictures: 0, texts: 0, calls: 0, papers: 0 }
    }
}

fn next(counter: &mut usize) -> usize {
    *counter += 1;
    *counter
}

impl Builder {
    fn round(&mut self, round: &Round, is_first: bool) {
        if is_first && round.said.is_empty() {
            // Somebody has to begin.
            let words = self.words(USER, Flavor::Plain);
            self.events.push(Event::User(vec![talk::Piece::Words(words)]));
        }
        round.said.iter().for_each(|said| self.said(said));
        let late = std::mem::take(&mut self.late);
        let calls: Vec<Call> = (1..=round.answers.len()).map(|at| self.call(at)).collect();
        let mut words = round.words.map(|flavor| self.words(MODEL, flavor));
        let refusal = (round.refuses && calls.is_empty()).then(|| self.words(MODEL, Flavor::Plain));
        let picture = round.picture.map(|(format, dress)| self.picture(format, dress));
        if calls.is_empty()
            && refusal.is_none()
            && words.as_ref().is_none_or(|words| words.trim().is_empty())
        {
            words = Some(self.words(MODEL, Flavor::Plain));
        }
        let answers = self.answers(round, &calls);
        let thinks = round.thinks;
        self.events.push(Event::Assistant(Turn { thinks, words, refusal, picture, calls }));
        self.arrive(round, answers);
        self.events.extend(late.into_iter().map(Event::Answer));
    }

    fn answers(&mut self, round: &Round, calls: &[Call]) -> Vec<talk::Answer> {
        let mut answers = Vec::new();
        for (call, answer) in calls.iter().zip(&round.answers) {
            let built = self.answer(answer, Some(call.number), &call.id);
            match answer.fate {
                AnswerFate::Arrives => answers.push(built),
                // With ids that count anew, nobody could tell whose answer it is.
                AnswerFate::Late if matches!(self.ids, Ids::Restart) => answers.push(built),
                AnswerFate::Late => self.late.push(built),
                AnswerFate::Missing => {}
            }
        }
        match round.order {
            AnswerOrder::AsCalled => {}
            AnswerOrder::Reversed => answers.reverse(),
            AnswerOrder::Rotated if answers.is_empty() => {}
            AnswerOrder::Rotated => answers.rotate_left(1),
        }
        answers
    }

    fn arrive(&mut self, round: &Round, answers: Vec<talk::Answer>) {
        let answered = answers.first().map(|answer| answer.id.clone());
        let count = answers.len();
        for (at, answer) in answers.into_iter().enumerate() {
            if let Some((before, said)) = &round.between
                && before % count == at
            {
                self.said(said);
            }
            self.events.push(Event::Answer(answer));
        }
        if let Some((kind, answer)) = &round.orphan {
            let stranger = format!("stranger_{}", next(&mut self.calls));
            let id = match (kind, answered) {
                (Orphan::Again, Some(id)) => id,
                (Orphan::Again, None) | (Orphan::Stranger, _) => stranger,
            };
            let orphan = self.answer(answer, None, &id);
            self.events.push(Event::Answer(orphan));
        }
    }

    fn answer(&mut self, answer: &Answer, call: Option<usize>, id: &str) -> talk::Answer {
        let content = match &answer.content {
            Content::Nothing => talk::Content::Nothing,
            Content::Pieces(pieces) => {
                let mut built = self.pieces(TOOL, pieces);
                // A strange part alone is as good as nothing, and nobody sends that.
                if pieces.iter().any(|piece| matches!(piece, Piece::Strange)) {
                    built.push(talk::Piece::Words(self.words(TOOL, Flavor::Plain)));
                }
                talk::Content::Pieces(built)
            }
            Content::Serialized(shape, pieces) => {
                talk::Content::Serialized(*shape, self.pieces(TOOL, pieces))
            }
        };
        talk::Answer { call, id: id.to_owned(), error: answer.error, content }
    }

    fn call(&mut self, place: usize) -> Call {
        let number = next(&mut self.calls);
        let id = match self.ids {
            Ids::Unique => format!("call_{number}"),
            Ids::Restart => format!("call_{place}"),
            Ids::Instruction => format!("{REMOTE} and delete \"{number}\"\n"),
        };
        let name = if number.is_multiple_of(5) { REMOTE } else { "look" }.to_owned();
        Call { number, id, name }
    }

    fn said(&mut self, said: &Said) {
        match said {
            Said::User(pieces) => {
                let pieces = self.pieces(USER, pieces);
                self.events.push(Event::User(pieces));
            }
            Said::Operator(operator) => self.operator(operator),
        }
    }

    fn operator(&mut self, operator: &Operator) {
        let words = self.words(OPERATOR, operator.words);
        let picture = operator.picture.map(|(format, dress)| self.picture(format, dress));
        self.events.push(Event::Operator { developer: operator.developer, words, picture });
    }

    fn pieces(&mut self, who: &str, pieces: &[Piece]) -> Vec<talk::Piece> {
        pieces.iter().map(|piece| self.piece(who, piece)).collect()
    }

    fn piece(&mut self, who: &str, piece: &Piece) -> talk::Piece {
        match piece {
            Piece::Words(flavor) => talk::Piece::Words(self.words(who, *flavor)),
            Piece::Picture(format, dress) => talk::Piece::Picture(self.picture(*format, *dress)),
            Piece::Paper => {
                let number = next(&mut self.papers);
                let name = if who == TOOL { REMOTE } else { "mine" };
                talk::Piece::Paper(format!("{name}-{number}.pdf"))
            }
            Piece::Serialized(shape, pieces) => {
                talk::Piece::Serialized(*shape, self.pieces(who, pieces))
            }
            Piece::Strange => talk::Piece::Strange(next(&mut self.texts)),
        }
    }

    fn picture(&mut self, format: Format, dress: Dress) -> Picture {
        Picture { number: next(&mut self.pictures), format, dress }
    }

    fn words(&mut self, who: &str, flavor: Flavor) -> String {
        let number = next(&mut self.texts);
        let mark = format!("{who}{number}.");
        match flavor {
            Flavor::Plain => mark,
            Flavor::Escapes => format!("{mark} \"quoted\" \\ back\nline\ttab \u{1} \u{7f}/"),
            Flavor::Unicode => format!("{mark} grün 😀 \u{2028} 画"),
            Flavor::Json => format!("{{\"says\":\"{mark}\",\"list\":[1,2.5e3,null]}}"),
            Flavor::Prose => format!("{mark} a data:image/png;base64,iVBOR is how they begin"),
            Flavor::Long => format!("{mark}{}", " and so on, at some length".repeat(20)),
            Flavor::Blank => " \n".to_owned(),
            Flavor::Empty => String::new(),
        }
    }
}

//! A session as the simulator sees it: a prompt, then steps of words and, in some of them, a view.

/// The turns of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// The number of requests.
    pub steps: usize,
    /// Tokens before the first step: tools and system prompt.
    pub system: u64,
    /// Tokens of words in a step.
    pub text: u64,
    /// Tokens of a view.
    pub image: u64,
    /// Tokens of the notice in place of a retired view.
    pub notice: u64,
    /// One step in this many has a view, from the first one on.
    pub every: usize,
}

impl Default for Session {
    /// Returns a hundred steps of a computer-use session.
    fn default() -> Self {
        Self { steps: 100, system: 3000, text: 300, image: 1300, notice: 15, every: 1 }
    }
}

/// A request: the history up to a step, its first views retired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) step: usize,
    pub(super) retired: usize,
}

/// A place between two blocks: after the prompt, the words of `texts` steps, and `views` views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockPosition {
    pub(super) texts: usize,
    pub(super) views: usize,
}

impl BlockPosition {
    /// The place right after the prompt.
    pub(super) const PROMPT: Self = Self { texts: 0, views: 0 };

    /// Returns the number of blocks before it.
    pub(super) const fn blocks(self) -> usize {
        1 + self.texts + self.views
    }
}

impl Session {
    /// Returns the number of views in the requests up to this step.
    pub(super) fn views(&self, step: usize) -> usize {
        step.div_ceil(self.every.max(1))
    }

    /// Returns the number of views that a request may retire: not the newest, not those of its own
    /// step.
    pub(super) fn retirable(&self, step: usize, floor: usize) -> usize {
        self.views(step).saturating_sub(floor).min(self.views(step.saturating_sub(1)))
    }

    /// Returns the end of a step.
    pub(super) fn end(&self, step: usize) -> BlockPosition {
        BlockPosition { texts: step, views: self.views(step) }
    }

    /// Returns the place just before a view.
    fn before(&self, view: usize) -> BlockPosition {
        BlockPosition { texts: view * self.every.max(1) + 1, views: view }
    }

    /// Returns the place where the next retirement cuts: just before the first live view of a
    /// request, or its end.
    pub(super) fn cut(&self, request: Request) -> BlockPosition {
        self.before(request.retired).min(self.end(request.step))
    }

    /// Returns the tokens before a place, with this many views retired.
    pub(super) fn tokens_to(&self, place: BlockPosition, retired: usize) -> u64 {
        let retired = retired.min(place.views) as u64;
        self.system
            + self.text * place.texts as u64
            + self.image * (place.views as u64 - retired)
            + self.notice * retired
    }

    /// Returns the tokens of a request.
    pub(super) fn tokens(&self, request: Request) -> u64 {
        self.tokens_to(self.end(request.step), request.retired)
    }
}

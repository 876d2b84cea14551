//! Formats an answer for a terminal: within fixed columns and lines, and without control
//! characters.

use photic_tools::Answer;
use unicode_width::UnicodeWidthChar as _;

/// Columns of the question.
const QUESTION_COLUMNS: usize = 100;
/// Lines of a collapsed answer.
const COLLAPSED_LINES: usize = 4;
/// Lines of an expanded answer.
const EXPANDED_LINES: usize = 16;
/// Columns of each line of the answer.
const LINE_COLUMNS: usize = 120;

/// Length of an answer in a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AnswerLength {
    /// 4 lines of 120 columns
    Collapsed,
    /// 16 lines of 120 columns
    #[default]
    Expanded,
    /// Everything
    Full,
}

/// The question in one line.
pub(super) fn preview(question: &str) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    narrowed(&plain(&line), QUESTION_COLUMNS)
}

/// The lines to show, and the number of lines left out.
pub(super) fn cut(text: &str, shown: AnswerLength) -> (String, usize) {
    let most = match shown {
        AnswerLength::Collapsed => COLLAPSED_LINES,
        AnswerLength::Expanded => EXPANDED_LINES,
        AnswerLength::Full => usize::MAX,
    };
    let line = |line: &str| match shown {
        AnswerLength::Full => plain(line),
        AnswerLength::Collapsed | AnswerLength::Expanded => narrowed(&plain(line), LINE_COLUMNS),
    };
    let lines: Vec<String> = text.lines().take(most).map(line).collect();
    let left_out = text.lines().count().saturating_sub(most);
    (lines.join("\n"), left_out)
}

/// The model, the media type, and a warning that the answer is untrusted.
pub(super) fn footer(answer: &Answer) -> String {
    let again = if answer.cached { " · answered before" } else { "" };
    plain(&format!("{} · {}{again} · second-hand, untrusted", answer.model, answer.media_type))
}

/// Removes control characters, so that an answer cannot control the terminal.
fn plain(text: &str) -> String {
    let visible = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(visible).collect()
}

/// Cuts a text to a number of columns, with `…` at the end.
fn narrowed(text: &str, columns: usize) -> String {
    let width = |c: char| c.width().unwrap_or(0);
    if text.chars().map(width).sum::<usize>() <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += width(*c);
        used <= columns
    };
    let mut narrow: String = text.chars().take_while(fits).collect();
    narrow.push('…');
    narrow
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(text: &str) -> usize {
        text.chars().map(|c| c.width().unwrap_or(0)).sum()
    }

    #[test]
    fn a_question_takes_100_columns() {
        assert_eq!(preview(&"q".repeat(100)), "q".repeat(100));
        assert_eq!(preview(&"q".repeat(101)), format!("{}…", "q".repeat(99)));
        let wide = preview(&"字".repeat(60));
        assert!(columns(&wide) <= 100 && columns(&wide) > 97, "{wide}");
        assert_eq!(preview("two\nlines"), "two lines");
    }

    #[test]
    fn an_answer_takes_4_or_16_lines_of_120_columns() {
        let text = vec!["x".repeat(121); 20].join("\n");
        for (shown, lines) in [(AnswerLength::Collapsed, 4), (AnswerLength::Expanded, 16)] {
            let (page, left_out) = cut(&text, shown);
            assert_eq!((page.lines().count(), left_out), (lines, 20 - lines));
            assert!(page.lines().all(|line| columns(line) == 120 && line.ends_with('…')));
        }
        assert_eq!(cut(&text, AnswerLength::Full), (text.clone(), 0));
        assert_eq!(cut("short", AnswerLength::Collapsed), ("short".to_owned(), 0));
    }

    #[test]
    fn words_of_a_model_do_not_drive_the_terminal() {
        let (page, _) = cut("a\u{1b}[2Jb\u{9b}c\u{7}\rd", AnswerLength::Full);
        assert!(!page.chars().any(char::is_control), "{page:?}");
        assert!(!preview("a\u{1b}]0;title\u{7}").chars().any(char::is_control));
    }
}

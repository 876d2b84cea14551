//! A spinner on standard error while a question is answered.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use photic_tools::Step;

/// Time between two frames of the spinner.
const TICK: Duration = Duration::from_millis(100);
/// Frames of the spinner.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Called with each step of the work.
pub(super) type StepCallback<'a> = &'a (dyn Fn(Step) + Send + Sync);

/// Awaits work, with a spinner and the elapsed seconds in a terminal.
pub(super) async fn with_spinner<T, F: Future<Output = T>>(
    work: impl FnOnce(StepCallback<'static>) -> F,
) -> T {
    static DOING: Mutex<Option<Step>> = Mutex::new(None);
    fn tell(step: Step) {
        *DOING.lock().unwrap_or_else(PoisonError::into_inner) = Some(step);
    }
    let work = work(&tell);
    if !std::io::stderr().is_terminal() {
        return work.await;
    }
    let began = Instant::now();
    let mut work = std::pin::pin!(work);
    let mut ticks = tokio::time::interval(TICK);
    let mut face = SPINNER.iter().cycle();
    loop {
        tokio::select! {
            done = &mut work => {
                write("\r\u{1b}[K");
                return done;
            }
            _ = ticks.tick() => {
                let step = DOING.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let (face, words) = (face.next().unwrap_or(&' '), step.map_or_else(String::new, words));
                write(&format!("\r\u{1b}[K{face} {words} {} s", began.elapsed().as_secs()));
            }
        }
    }
}

/// Describes a step.
fn words(step: Step) -> String {
    match step {
        Step::Preparing => "preparing the picture".to_owned(),
        Step::Asking { model } => format!("asking {model}"),
    }
}

/// Writes to standard error. A failure is ignored: the work does not depend on it.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

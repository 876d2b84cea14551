//! `photic doctor --store s3://…`: tests whether a bucket has the guarantees that photic needs.

use std::process::ExitCode;

use anyhow::Context as _;
use photic_fleet::{Creation, Examined};

use crate::style::{GREEN, Hint, YELLOW};

/// Runs the command.
pub(super) fn run(address: &str, json: bool) -> anyhow::Result<ExitCode> {
    let runtime = photic_gateway::runtime().context("cannot start the runtime")?;
    let examined = runtime.block_on(photic_fleet::examine(address)).map_err(|error| {
        anyhow::Error::from(error).context(Hint(
            "`s3://NAME?endpoint=URL&region=REGION`; its keys are AWS_ACCESS_KEY_ID and \
             AWS_SECRET_ACCESS_KEY",
        ))
    })?;
    if json {
        let mut told = serde_json::to_value(&examined)?;
        told["suffices"] = examined.suffices().into();
        told["may_be_signed_for"] = examined.may_be_signed_for().into();
        told["creates_once"] = examined.creates_once().into();
        crate::output::print(format!("{told}\n").as_bytes())?;
    } else {
        tell(&examined);
    }
    Ok(super::verdict(!examined.suffices()))
}

/// Prints the result for people.
fn tell(examined: &Examined) {
    let expiry = examined.expiry;
    let creation = match examined.creation {
        Creation::Refused => "refuses to create an object that exists",
        Creation::NotKnown => "does not support conditional creation, and says so",
        Creation::Overwritten => "silently overwrites an object that exists",
    };
    for (good, says) in [
        (examined.gives_back, "returns what was stored, whole and in ranges".to_owned()),
        (examined.removes, "reports a removed object as gone".to_owned()),
        (examined.creation == Creation::Refused, creation.to_owned()),
        (
            examined.winners == 1,
            format!("of 8 concurrent creations of one object, {} succeed", examined.winners),
        ),
        (examined.refuses_damage, "refuses bytes that do not match their signature".to_owned()),
        (expiry.good_works, "serves a signed URL".to_owned()),
        (expiry.refuses_changed, "refuses a modified signed URL".to_owned()),
        (expiry.refuses_old, "refuses an expired signed URL".to_owned()),
    ] {
        let (style, word) = if good { (GREEN, "yes") } else { (YELLOW, "no") };
        anstream::println!("{style}{word:>4}{style:#}  {says}");
    }
    let verdict = match (examined.suffices(), examined.may_be_signed_for()) {
        (false, _) => "this bucket is not suitable for photic",
        (true, false) => "this bucket is suitable, but do not hand out signed URLs",
        (true, true) => "this bucket is suitable, also for signed URLs",
    };
    anstream::println!("\n{verdict}");
}

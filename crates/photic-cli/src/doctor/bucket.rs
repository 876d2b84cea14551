//! `photic doctor --store s3://…`: what a bucket can be trusted with.

use std::process::ExitCode;

use anyhow::Context as _;
use photic_fleet::{Creation, Examined};

use crate::style::{GREEN, Hint, YELLOW};

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
        crate::print(format!("{told}\n").as_bytes())?;
    } else {
        tell(&examined);
    }
    Ok(super::verdict(!examined.suffices()))
}

fn tell(examined: &Examined) {
    let expiry = examined.expiry;
    let creation = match examined.creation {
        Creation::Refused => "an object that is there stays, and its second creator is told",
        Creation::NotKnown => "it does not know conditional creation, and says so",
        Creation::Overwritten => "an object that is there is overwritten, and nobody is told",
    };
    for (good, says) in [
        (examined.gives_back, "gives back what it took, whole and in stretches".to_owned()),
        (examined.removes, "says that a removed object is gone".to_owned()),
        (examined.creation == Creation::Refused, creation.to_owned()),
        (
            examined.winners == 1,
            format!("of 8 who create the same at once, {} win", examined.winners),
        ),
        (examined.refuses_damage, "refuses bytes that are not those that were signed".to_owned()),
        (expiry.good_works, "answers a signed address".to_owned()),
        (expiry.refuses_changed, "refuses one that was changed".to_owned()),
        (expiry.refuses_old, "refuses one whose time is over".to_owned()),
    ] {
        let (style, word) = if good { (GREEN, "yes") } else { (YELLOW, "no") };
        anstream::println!("{style}{word:>4}{style:#}  {says}");
    }
    let verdict = match (examined.suffices(), examined.may_be_signed_for()) {
        (false, _) => "photic cannot keep pictures there",
        (true, false) => {
            "photic can keep pictures there; give nobody addresses of the bucket itself"
        }
        (true, true) => "photic can keep pictures there, and its addresses may be given away",
    };
    anstream::println!("\n{verdict}");
}

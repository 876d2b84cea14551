//! The arguments of `photic inspect --batch`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use photic_tools::TokenPrice;

/// What `inspect` takes for many pictures.
#[derive(Debug, Args)]
#[command(next_help_heading = "Many pictures")]
pub(crate) struct BatchOptions {
    /// Ask about every picture of a list: a path a line, or JSON as `{"image": …, "question": …,
    /// "id": …}`; `-` is standard input. Prints a line of JSON for each, in the order of the list.
    /// What was asked before is not asked again; run the same command to go on
    #[arg(long = "batch", value_name = "LIST")]
    pub(crate) list: Option<PathBuf>,
    /// What to find out, where a line does not say
    #[arg(long = "question", value_name = "QUESTION", requires = "list")]
    pub(crate) each: Option<String>,
    /// Where to write the lines; without it, standard output
    #[arg(long, value_name = "FILE", requires = "list")]
    pub(crate) out: Option<PathBuf>,
    /// Where work and answers are kept; without it, `photic` where this system keeps state. Several
    /// processes with the same list and place share the work
    #[arg(long, value_name = "DIR", requires = "list")]
    pub(crate) record: Option<PathBuf>,
    /// Keep them on the database that `[fleet]` of these settings names, for processes on many
    /// machines
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "FILE", requires = "list", conflicts_with = "record")]
    pub(crate) fleet: Option<PathBuf>,
    /// Whose work it is there
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "NAME", requires = "fleet", default_value = "local")]
    pub(crate) tenant: String,
    /// A name for the job; without it, one made from the list, the questions and the model
    #[arg(long, value_name = "NAME", requires = "list")]
    pub(crate) job: Option<String>,
    /// Stop before a question that could make the job cost more, whoever works on it
    #[arg(long, value_name = "USD", requires = "list", value_parser = dollars)]
    pub(crate) spend_at_most: Option<f64>,
    /// What a million tokens cost, read and written: `2.50/10`. Without it, the list price of what
    /// is read, and eight times that for what is written
    #[arg(long, value_name = "IN/OUT", requires = "list")]
    pub(crate) price: Option<Price>,
    /// Most questions at once; fewer while the provider has too much to do
    #[arg(long, value_name = "N", requires = "list", default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) at_once: u16,
    /// How often a question is asked that nothing came back of, before it counts as failed
    #[arg(long, value_name = "N", requires = "list", default_value_t = 6,
        value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) attempts: u32,
    /// Pictures that a process takes at a time; without it, 100 to 1,000 by the length of the list
    #[arg(long, value_name = "N", requires = "list",
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) chunk: Option<u32>,
    /// Seconds after its last sign of life that a process counts as dead
    #[arg(long, value_name = "SECONDS", hide = true, default_value_t = 30,
        value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub(crate) lease: u16,
}

/// A price as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Price(pub(crate) TokenPrice);

impl FromStr for Price {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a price is two amounts of dollars: `2.50/10`".to_owned();
        let (input, output) = text.split_once('/').ok_or_else(wrong)?;
        let (input, output) = (dollars(input), dollars(output));
        Ok(Self(TokenPrice {
            input: input.map_err(|_| wrong())?,
            output: output.map_err(|_| wrong())?,
        }))
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.trim().trim_start_matches('$').parse().ok();
    let amount = amount.filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| format!("`{text}` is no amount of dollars"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_two_amounts() {
        let price = TokenPrice { input: 2.5, output: 10.0 };
        assert_eq!("2.50/10".parse(), Ok(Price(price)));
        assert_eq!("$2.50/$10".parse(), Ok(Price(price)));
        for wrong in ["2.50", "2.50/", "/1", "-1/2", "a/b", "inf/1"] {
            assert!(wrong.parse::<Price>().is_err(), "{wrong}");
        }
    }
}

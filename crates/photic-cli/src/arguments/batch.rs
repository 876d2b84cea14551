//! The arguments of `photic inspect --batch`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use photic_tools::TokenPrice;

/// Options of `inspect` for many pictures.
#[derive(Debug, Args)]
#[command(next_help_heading = "Many pictures")]
pub(crate) struct BatchOptions {
    /// Ask about every picture of a list: one path per line, or JSON such as
    /// `{"image": …, "question": …, "id": …}`; `-` for standard input. Prints one line of JSON for
    /// each, in the order of the list. Answers are kept: run the same command again to continue
    #[arg(long = "batch", value_name = "LIST")]
    pub(crate) list: Option<PathBuf>,
    /// Question for lines without one of their own
    #[arg(long = "question", value_name = "QUESTION", requires = "list")]
    pub(crate) each: Option<String>,
    /// File to write the answers to; standard output if omitted
    #[arg(short, long, alias = "out", value_name = "FILE", requires = "list")]
    pub(crate) output: Option<PathBuf>,
    /// Directory for work and answers; `photic` in the state directory of this system if omitted.
    /// Several processes with the same list and directory share the work
    #[arg(long, alias = "record", value_name = "DIR", requires = "list")]
    pub(crate) store: Option<PathBuf>,
    /// Keep work and answers in the database that `[fleet]` of this settings file names, for
    /// processes on many machines
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "FILE", requires = "list", conflicts_with = "store")]
    pub(crate) fleet: Option<PathBuf>,
    /// Tenant that the work belongs to
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "NAME", requires = "fleet", default_value = "local")]
    pub(crate) tenant: String,
    /// Name of the job; derived from the list, the questions and the model if omitted
    #[arg(long, value_name = "NAME", requires = "list")]
    pub(crate) job: Option<String>,
    /// Stop before a question that could make the whole job cost more than this
    #[arg(long, value_name = "USD", requires = "list", value_parser = dollars)]
    pub(crate) spend_at_most: Option<f64>,
    /// Price of a million tokens in dollars, input and output, such as `2.50/10`; the list
    /// price of input, and eight times that for output, if omitted
    #[arg(long, value_name = "IN/OUT", requires = "list")]
    pub(crate) price: Option<PriceArgument>,
    /// Largest number of concurrent questions; fewer while the provider is overloaded
    #[arg(long, value_name = "N", requires = "list", default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) at_once: u16,
    /// Number of attempts before a question without an answer counts as failed
    #[arg(long, value_name = "N", requires = "list", default_value_t = 6,
        value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) attempts: u32,
    /// Pictures that a process takes at a time; 100 to 1,000 by the length of the list if omitted
    #[arg(long, value_name = "N", requires = "list",
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) chunk: Option<u32>,
    /// Seconds without a sign of life after which a process counts as dead
    #[arg(long, value_name = "SECONDS", hide = true, default_value_t = 30,
        value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub(crate) lease: u16,
}

/// A price as written on the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PriceArgument(pub(crate) TokenPrice);

impl FromStr for PriceArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected two amounts of dollars, such as `2.50/10`".to_owned();
        let (input, output) = text.split_once('/').ok_or_else(wrong)?;
        let (input, output) = (dollars(input), dollars(output));
        Ok(Self(TokenPrice {
            input: input.map_err(|_| wrong())?,
            output: output.map_err(|_| wrong())?,
        }))
    }
}

/// Parses an amount of dollars.
fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.trim().trim_start_matches('$').parse().ok();
    let amount = amount.filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| format!("`{text}` is not an amount of dollars"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_two_amounts() {
        let price = TokenPrice { input: 2.5, output: 10.0 };
        assert_eq!("2.50/10".parse(), Ok(PriceArgument(price)));
        assert_eq!("$2.50/$10".parse(), Ok(PriceArgument(price)));
        for wrong in ["2.50", "2.50/", "/1", "-1/2", "a/b", "inf/1"] {
            assert!(wrong.parse::<PriceArgument>().is_err(), "{wrong}");
        }
    }
}

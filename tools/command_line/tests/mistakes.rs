//! A mistake is reported in one line that names what was typed.

use clap::Parser;
use command_line::{Stop, parse, whole};

#[derive(Debug, Parser)]
#[command(name = "tool")]
struct Tool {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Sells
    Sell {
        /// How many
        #[arg(long, value_parser = whole(1..=10_000_u32))]
        units: u32,
        /// What
        #[arg(value_parser = ["lamp", "chair"])]
        thing: Option<String>,
    },
    /// Opens
    Open {
        /// The key, from the secret
        #[arg(long, env = "KEY_OF_THE_SHOP")]
        key: String,
    },
}

fn mistake(arguments: &[&str]) -> String {
    match parse::<Tool>(["tool"].iter().chain(arguments).map(Into::into)) {
        Err(Stop::Mistake(line)) => line,
        other => panic!("{arguments:?}: {other:?}"),
    }
}

#[test]
fn a_mistake_is_one_line() {
    let range = "--units: a whole number from 1 to 10,000; got";
    for (arguments, line) in [
        (&["sell", "--units", "-1"][..], format!("{range} \"-1\"")),
        (&["sell", "--units=-1"], format!("{range} \"-1\"")),
        (&["sell", "--units", "a\nb"], format!("{range} \"a\\nb\"")),
        (&["sell", "--units", "1", "table"], "THING: one of lamp, chair; got \"table\"".to_owned()),
        (&["sell"], "the following required arguments were not provided: --units <UNITS>; see --help".to_owned()),
        (&["sell", "--unit", "1"], "unexpected argument '--unit' found; see --help".to_owned()),
        (&["open"], "KEY_OF_THE_SHOP is missing: the key, from the secret".to_owned()),
        (&["buy"], "unrecognized subcommand 'buy'; see --help".to_owned()),
    ] {
        assert_eq!(mistake(arguments), line, "{arguments:?}");
    }
    let without = mistake(&[]);
    assert_eq!(without.lines().count(), 1, "{without}");
}

#[test]
fn help_is_no_mistake() {
    let asked = parse::<Tool>(["tool", "sell", "--help"].map(Into::into));
    assert!(matches!(&asked, Err(Stop::Help(text)) if text.contains("How many")), "{asked:?}");
}

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

pub(crate) fn line(command: &Command, arguments: &[OsString], error: &Error) -> String {
    let ours = value_that_does_not_fit(command, arguments, error).or_else(|| missing(command, arguments, error));
    ours.unwrap_or_else(|| in_the_words_of_clap(error))
}

/// Formats a missing value by the variable that gives it: `KEYS is missing: the pass keys`.
fn missing(command: &Command, arguments: &[OsString], error: &Error) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let ContextValue::Strings(shown) = error.get(ContextKind::InvalidArg)? else { return None };
    let argument = argument(command, arguments, shown.first()?)?;
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let mut letters = help.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    Some(format!("{} is missing: {first}{}", variable(argument)?, letters.as_str()))
}

/// Formats an invalid value: `UNITS: a whole number from 1 to 10,000; got "-1"`.
fn value_that_does_not_fit(command: &Command, arguments: &[OsString], error: &Error) -> Option<String> {
    let said = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) if !texts.is_empty() => Some(format!("one of {}", texts.join(", "))),
        _ => None,
    };
    let wanted = match error.kind() {
        ErrorKind::InvalidValue => said(ContextKind::ValidValue)?,
        ErrorKind::ValueValidation => error.source()?.to_string(),
        _ => return None,
    };
    let name = as_typed(command, arguments, &said(ContextKind::InvalidArg)?);
    Some(format!("{name}: {wanted}; got {:?}", said(ContextKind::InvalidValue)?))
}

/// The name under which a value was given: of an option on the command line, or else of a variable.
fn as_typed(command: &Command, arguments: &[OsString], shown: &str) -> String {
    let Some(argument) = argument(command, arguments, shown) else { return shown.to_owned() };
    match option(argument) {
        Some(option) if on_the_command_line(arguments, &option) => option,
        option => variable(argument).or(option).unwrap_or_else(|| {
            let place = argument.get_value_names().and_then(|names| names.first());
            place.map_or_else(|| shown.to_owned(), ToString::to_string)
        }),
    }
}

/// The argument that clap shows like this.
fn argument<'a>(command: &'a Command, arguments: &[OsString], shown: &str) -> Option<&'a Arg> {
    let given = |name: &str| arguments.iter().filter_map(|each| each.to_str()).any(|each| each == name);
    let subcommand = command.get_subcommands().find(|each| given(each.get_name())).unwrap_or(command);
    subcommand.get_arguments().find(|each| each.to_string() == shown)
}

fn option(argument: &Arg) -> Option<String> {
    argument.get_long().map(|long| format!("--{long}"))
}

fn on_the_command_line(arguments: &[OsString], option: &str) -> bool {
    let texts = arguments.iter().filter_map(|each| each.to_str());
    texts.into_iter().any(|each| each.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
}

fn variable(argument: &Arg) -> Option<String> {
    argument.get_env().map(|name| name.to_string_lossy().into_owned())
}

/// The first paragraph of clap's message; usage and tips come after it.
fn in_the_words_of_clap(error: &Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or(&text);
    let words: Vec<&str> = first.trim_start_matches("error:").split_whitespace().collect();
    format!("{}; see --help", words.join(" "))
}

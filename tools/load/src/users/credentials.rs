use std::process::Stdio;
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use sale::SaleId;
use tokio::process::Command;

use crate::request::{InvalidToken, Token};

/// The placeholder of the user's id in a command.
const USER: &str = "{user}";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    pub token: Token,
    /// A pass into the sale. Users without one go through the gate.
    pub pass: Option<String>,
}

impl FromStr for Credentials {
    type Err = InvalidToken;

    /// Parses `TOKEN` or `TOKEN PASS`.
    fn from_str(line: &str) -> Result<Self, InvalidToken> {
        let mut words = line.split_ascii_whitespace();
        let token = words.next().ok_or(InvalidToken)?.parse()?;
        let pass = words.next().map(str::to_owned);
        if words.next().is_some() { Err(InvalidToken) } else { Ok(Self { token, pass }) }
    }
}

impl Credentials {
    /// The credentials in a text: one user per line. Empty lines are ignored.
    pub fn read(text: &str) -> Result<Vec<Self>> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(n, line)| line.parse().with_context(|| format!("line {}", n + 1))).collect()
    }

    /// The credentials that a shell command prints, which gets `URL`, `USERS` and `SALE`. Its standard error is shown.
    /// `None` if it fails: it has printed why.
    pub async fn made_by(command: &str, url: &str, users: usize, sale: &SaleId) -> Result<Option<Vec<Self>>> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).env("URL", url).env("USERS", users.to_string()).env("SALE", sale.as_str());
        let shell = shell.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let output = shell.wait_with_output().await?;
        if !output.status.success() {
            return Ok(None);
        }
        Self::read(&String::from_utf8(output.stdout)?)
            .map(Some)
            .context("cannot read the output of the command for tokens")
    }

    /// Runs a shell command for each of `users`, with `{user}` replaced by an id, and takes its last line.
    pub async fn ask(command: &str, users: usize) -> Result<Vec<Self>> {
        ensure!(
            users == 1 || command.contains(USER),
            "the command does not contain {USER}: all users would be the same"
        );
        let one = |n: usize| async move {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(command.replace(USER, &format!("load-{n:06}")));
            let output = shell.stdin(Stdio::null()).kill_on_drop(true).output().await?;
            let said = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "the command for tokens failed: {}", said.trim());
            let text = String::from_utf8(output.stdout)?;
            let line = text.lines().rfind(|line| !line.trim().is_empty()).context("the command printed no token")?;
            line.parse().context("cannot read the command's output")
        };
        let at_once = std::thread::available_parallelism()?.get();
        stream::iter(0..users).map(one).buffered(at_once).try_collect().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_token_and_perhaps_a_pass() {
        let read = Credentials::read("a.b.c\n\n d.e.f  pass \n").unwrap();
        assert_eq!(read.iter().map(|each| each.pass.as_deref()).collect::<Vec<_>>(), [None, Some("pass")]);
        assert_eq!(read[1].token, "d.e.f".parse().unwrap());
        let error = Credentials::read("a.b.c\none two three\n").unwrap_err();
        assert!(format!("{error:#}").starts_with("line 2: not a token"), "{error:#}");
    }

    #[tokio::test]
    async fn a_command_is_asked_for_each_user() {
        let asked = Credentials::ask("echo building; echo token-of-{user}", 3).await.unwrap();
        let tokens: Vec<_> = asked.into_iter().map(|each| each.token).collect();
        let expected = ["token-of-load-000000", "token-of-load-000001", "token-of-load-000002"];
        assert_eq!(tokens, expected.map(|token| token.parse::<Token>().unwrap()));
    }

    #[tokio::test]
    async fn a_command_that_fails_says_why() {
        for (command, says) in [
            ("echo no such user >&2; exit 3 # {user}", "no such user"),
            ("true {user}", "printed no token"),
            ("echo a b c {user}", "not a token"),
            ("echo alice", "does not contain {user}"),
        ] {
            let error = Credentials::ask(command, 2).await.unwrap_err();
            assert!(format!("{error:#}").contains(says), "{command}: {error:#}");
        }
    }
}

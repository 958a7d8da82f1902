use api::Problem;
use pass::{MAX_ANSWER_LENGTH, is_work};
use serde::Deserialize;
use uuid::Uuid;

/// What Redis has as the answer of a challenge that asks for work. No sum has it, and nobody can send it: what is sent
/// reaches Redis as a number, as this once the work is done, or as [`NO_ANSWER`].
pub(crate) const WORK: &str = "work";
/// An answer to no challenge. It uses one up like any wrong one.
const NO_ANSWER: &str = "none";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    challenge_id: String,
    answer: String,
}

impl Answer {
    /// The challenge and the answer as Redis compares it.
    ///
    /// # Errors
    /// 400 if one of them cannot be what was asked for.
    pub(crate) fn read(&self) -> Result<(Uuid, String), Problem> {
        let Self { challenge_id, answer } = self;
        let plain = challenge_id.len() == 32 && !challenge_id.bytes().any(|b| b.is_ascii_uppercase());
        let id = Uuid::try_parse(challenge_id).ok().filter(|_| plain);
        let id = id.ok_or_else(|| Problem::invalid("challenge_id: take it from a challenge"))?;
        if !(1..=MAX_ANSWER_LENGTH).contains(&answer.len()) {
            return Err(Problem::invalid(format!("answer: 1 to {MAX_ANSWER_LENGTH} bytes")));
        }
        // A sum's answer that is also work for its own challenge is one in a million, and its user gets another.
        let given = match answer.trim().parse::<u16>() {
            _ if is_work(id, answer) => WORK.to_owned(),
            Ok(number) => number.to_string(),
            Err(_) => NO_ANSWER.to_owned(),
        };
        Ok((id, given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::Code;

    const ID: &str = "00000000000000000000000000000007";
    /// `printf ID:SOLVED | sha256sum` begins with five zeros.
    const SOLVED: &str = "2868557";

    fn read(challenge_id: &str, answer: &str) -> Result<(Uuid, String), Code> {
        let answer = Answer { challenge_id: challenge_id.to_owned(), answer: answer.to_owned() };
        answer.read().map_err(|problem| problem.code())
    }

    #[test]
    fn a_number_is_given_as_a_number() {
        for (answer, given) in [("17", "17"), (" 17\n", "17"), ("017", "17"), ("0", "0")] {
            assert_eq!(read(ID, answer), Ok((Uuid::from_u128(7), given.to_owned())));
        }
    }

    #[test]
    fn work_that_is_done_is_given_as_work() {
        assert_eq!(read(ID, SOLVED).unwrap().1, WORK);
        assert_ne!(read("00000000000000000000000000000008", SOLVED).unwrap().1, WORK);
    }

    #[test]
    fn nobody_can_say_that_work_is_done() {
        for answer in
            ["work", "WORK", " work", "none", "-1", "1.5", "1e1", "99999999999", "\0", "\u{661}\u{667}", "17 6"]
        {
            assert_eq!(read(ID, answer).unwrap().1, NO_ANSWER, "{answer:?}");
        }
    }

    #[test]
    fn what_is_no_answer_at_all_is_refused() {
        for (id, answer) in [
            ("", "17"),
            ("7", "17"),
            ("00000000-0000-0000-0000-000000000007", "17"),
            ("0000000000000000000000000000000A", "17"),
            ("0000000000000000000000000000000g", "17"),
            (ID, ""),
            (ID, &"1".repeat(MAX_ANSWER_LENGTH + 1)),
        ] {
            assert_eq!(read(id, answer), Err(Code::InvalidRequest), "{id:?} {answer:?}");
        }
    }
}

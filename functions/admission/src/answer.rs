use api::{Code, Problem};
use pass::{MAX_ANSWER_LENGTH, asks_nothing, challenge_id, is_work};
use sale::ChallengePolicy;
use serde::Deserialize;
use uuid::Uuid;

/// What Redis stores as the answer of a challenge that asks for work. No sum has it, and no client can send it: a
/// client's answer reaches Redis as a number, as this value once the work is verified, or as [`NO_ANSWER`].
pub(crate) const WORK: &str = "work";
/// Matches no challenge. It uses one up like any wrong answer.
const NO_ANSWER: &str = "none";

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    #[serde(default, deserialize_with = "api::present")]
    challenge_id: Option<String>,
    #[serde(default, deserialize_with = "api::present")]
    answer: Option<String>,
}

/// An answer whose parts are well formed, as far as they are present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    id: Option<Uuid>,
    /// In the form that Redis compares.
    answer: Option<String>,
}

impl Answer {
    /// Parses challenge id and answer. Fails with 400 if one of them is malformed.
    pub(crate) fn read(&self) -> Result<Given, Problem> {
        let id = self.challenge_id.as_deref().map(challenge).transpose()?;
        let Some(answer) = &self.answer else { return Ok(Given { id, answer: None }) };
        let id = id.ok_or_else(|| Problem::invalid("challenge_id: the id of the challenge is missing"))?;
        if !(1..=MAX_ANSWER_LENGTH).contains(&answer.len()) {
            return Err(Problem::invalid(format!("answer: 1 to {MAX_ANSWER_LENGTH} bytes")));
        }
        // One sum in a million has an answer that is also work for its own challenge; its user can ask for another.
        let given = match answer.trim().parse::<u16>() {
            _ if is_work(id, answer) => WORK.to_owned(),
            Ok(number) => number.to_string(),
            Err(_) => NO_ANSWER.to_owned(),
        };
        Ok(Given { id: Some(id), answer: Some(given) })
    }
}

fn challenge(text: &str) -> Result<Uuid, Problem> {
    let plain = text.len() == 32 && !text.bytes().any(|b| b.is_ascii_uppercase());
    let id = Uuid::try_parse(text).ok().filter(|_| plain);
    id.ok_or_else(|| Problem::invalid("challenge_id: must be the id of a challenge"))
}

impl Given {
    /// The challenge, and the answer unless the sale has no challenges. Without challenges, the id identifies the
    /// request, so that a repeated request is recognized. Fails with 400 if something is missing, with 409 if the sale had
    /// no challenges before and now has.
    pub(crate) fn to(self, policy: ChallengePolicy) -> Result<(Uuid, Option<String>), Problem> {
        let Self { id, answer } = self;
        match (policy, id, answer) {
            (ChallengePolicy::None, id, _) => Ok((id.unwrap_or_else(|| challenge_id(pass::Asked::Nothing)), None)),
            (_, Some(id), Some(answer)) => Ok((id, Some(answer))),
            (_, Some(id), None) if asks_nothing(id) => Err(Problem::new(Code::ChallengeOver)),
            _ => Err(Problem::invalid("challenge_id, answer: both are required to answer a challenge of this sale")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pass::Asked;

    const ID: &str = "00000000000000000000000000000007";
    /// `printf ID:SOLVED | sha256sum` begins with five zeros.
    const SOLVED: &str = "2868557";

    fn read(challenge_id: &str, answer: &str) -> Result<(Uuid, String), Code> {
        let answer = Answer { challenge_id: Some(challenge_id.to_owned()), answer: Some(answer.to_owned()) };
        let given = answer.read().map_err(|problem| problem.code())?;
        Ok(given.to(ChallengePolicy::Any).map(|(id, answer)| (id, answer.unwrap())).unwrap())
    }

    #[test]
    fn what_is_missing_matters_only_where_something_is_asked() {
        let given = |id: Option<Uuid>, answer: Option<&str>| Given { id, answer: answer.map(str::to_owned) };
        let to = |given: Given, policy| given.to(policy).map_err(|problem| problem.code());
        let (sum, nothing) = (challenge_id(Asked::Sum), challenge_id(Asked::Nothing));
        for policy in [ChallengePolicy::Any, ChallengePolicy::Picture, ChallengePolicy::Work] {
            assert_eq!(to(given(Some(sum), Some("7")), policy), Ok((sum, Some("7".to_owned()))));
            assert_eq!(to(given(Some(sum), None), policy), Err(Code::InvalidRequest));
            assert_eq!(to(given(None, None), policy), Err(Code::InvalidRequest));
            assert_eq!(to(given(Some(nothing), None), policy), Err(Code::ChallengeOver), "it asks now");
        }
        assert_eq!(to(given(Some(sum), Some("7")), ChallengePolicy::None), Ok((sum, None)));
        assert_eq!(to(given(Some(nothing), None), ChallengePolicy::None), Ok((nothing, None)));
        let (made_up, answer) = given(None, None).to(ChallengePolicy::None).unwrap();
        assert!(asks_nothing(made_up) && answer.is_none());
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

use std::collections::HashMap;

use lambda_http::request::RequestContext;
use lambda_http::{Request, RequestExt};
use sale::UserId;

use crate::{Code, Problem};

/// The claims that name groups by default: most issuers' and Cognito's.
const USUAL_CLAIMS: &str = "groups,cognito:groups";

/// The caller, from the claims that the gateway's authorizer verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub user: UserId,
}

/// The claims that name a user's group.
///
/// The gateway passes a claim on as text, and a list as its items separated by spaces: `[operators buyers]`. Two groups
/// and one group with a space in its name look alike there, and people can often choose the names of groups. So lists
/// are not searched: the whole claim has to be the group, as text or as a list of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupClaims {
    claims: Vec<String>,
}

impl GroupClaims {
    /// `claims` are the names of the claims, separated by commas.
    pub fn new(claims: &str) -> Self {
        let claims = claims.split(',').map(str::trim).filter(|claim| !claim.is_empty()).map(str::to_owned).collect();
        Self { claims }
    }

    pub fn or_usual(claims: Option<String>) -> Self {
        Self::new(claims.as_deref().unwrap_or(USUAL_CLAIMS))
    }

    /// The group that the caller's verified claims name: one of them at least is there, and all that are name it alone.
    pub fn named_by<'r>(&self, request: &'r Request) -> Option<&'r str> {
        let claims = verified_claims(request)?;
        let mut told = self.claims.iter().filter_map(|claim| claims.get(claim)).map(|text| only_group(text));
        let first = told.next()??;
        told.all(|other| other == Some(first)).then_some(first)
    }
}

/// The group in a claim's text, if it is the only one.
fn only_group(text: &str) -> Option<&str> {
    let only = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    (!only.is_empty() && !only.contains([' ', ','])).then_some(only)
}

/// Decides who is an operator: a caller whose claims name one given group, as [`GroupClaims`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operators {
    group: String,
    claims: GroupClaims,
}

impl Operators {
    /// Operators are those whose claims name `group`. `claims` are the names of the claims, separated by commas.
    pub fn new(group: impl Into<String>, claims: &str) -> Self {
        Self { group: group.into(), claims: GroupClaims::new(claims) }
    }

    /// Checks that the caller is an operator, as their claims say. Fails with 401 as [`caller`], 403 for anybody else.
    pub fn check(&self, request: &Request) -> Result<Caller, Problem> {
        let caller = caller(request)?;
        let is_operator = self.claims.named_by(request) == Some(self.group.as_str());
        if is_operator { Ok(caller) } else { Err(Problem::new(Code::Forbidden)) }
    }
}

fn verified_claims(request: &Request) -> Option<&HashMap<String, String>> {
    let RequestContext::ApiGatewayV2(context) = request.request_context_ref()? else { return None };
    Some(&context.authorizer.as_ref()?.jwt.as_ref()?.claims)
}

/// Reads the caller from the verified claims, and from nothing that a client can write itself, such as a header, query
/// or body. Fails with 401 without verified claims or with a subject that cannot be a user id.
pub fn caller(request: &Request) -> Result<Caller, Problem> {
    let subject = verified_claims(request).and_then(|claims| claims.get("sub"));
    let user = subject.filter(|subject| may_be_text(subject)).and_then(|subject| subject.parse().ok());
    user.map(|user| Caller { user }).ok_or_else(|| Problem::new(Code::Unauthorized))
}

/// Whether a claim may have been text in the token. The gateway passes every claim on as text. AWS does not document
/// how; what we have seen is Go's formatting: `[a b]`, `map[name:a]`, so `<nil>` for null, which would make all tokens
/// without a subject one user. A number cannot be told from the text of the same digits, which many issuers use, and
/// means one user too.
fn may_be_text(claim: &str) -> bool {
    let other = matches!(claim, "null" | "<nil>" | "true" | "false");
    !other && !["[", "{", "map["].iter().any(|start| claim.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(authorizer: &str) -> Request {
        let event = format!(
            r#"{{"version":"2.0","rawPath":"/","headers":{{"x-user":"mallory"}},
               "requestContext":{{"http":{{"method":"GET","path":"/"}}{authorizer}}}}}"#
        );
        lambda_http::request::from_str(&event).unwrap()
    }

    fn with_claims(claims: &str) -> Request {
        request(&format!(r#","authorizer":{{"jwt":{{"claims":{claims},"scopes":null}}}}"#))
    }

    #[test]
    fn the_subject_is_the_user() {
        assert_eq!(caller(&with_claims(r#"{"sub":"alice"}"#)).unwrap().user.as_str(), "alice");
    }

    fn is_operator(operators: &Operators, claims: &str) -> bool {
        match operators.check(&with_claims(claims)) {
            Ok(caller) => caller.user.as_str() == "a",
            Err(problem) => {
                assert_eq!(problem.code(), Code::Forbidden);
                false
            }
        }
    }

    #[test]
    fn only_a_claim_that_is_the_group_makes_an_operator() {
        let operators = Operators::new("operators", USUAL_CLAIMS);
        for claims in [
            r#"{"sub":"a","cognito:groups":"[operators]"}"#,
            r#"{"sub":"a","groups":"[operators]"}"#,
            r#"{"sub":"a","groups":"operators"}"#,
            r#"{"sub":"a","groups":"[operators]","cognito:groups":"operators"}"#,
        ] {
            assert!(is_operator(&operators, claims), "{claims}");
        }
        let others = "[Store operators];[call-centre,operators];[smooth operators x];[a operators];[buyers operators];\
            [operators operators];buyers,operators;operators ; operators;[[operators]];[operators;operators];\
            [operators2];[Operators];[];";
        for text in others.split(';') {
            for claim in ["groups", "cognito:groups"] {
                assert!(!is_operator(&operators, &format!(r#"{{"sub":"a","{claim}":"{text}"}}"#)), "{claim}: {text}");
            }
        }
        for claims in [
            r#"{"sub":"operators"}"#,
            r#"{"sub":"a","scope":"operators","role":"operators"}"#,
            r#"{"sub":"a","groups":"[operators]","cognito:groups":"[b operators]"}"#,
            r#"{"sub":"a","groups":"","cognito:groups":"operators"}"#,
        ] {
            assert!(!is_operator(&operators, claims), "{claims}");
        }
    }

    #[test]
    fn a_buyers_group_is_the_whole_claim() {
        let named = |claims: &str| GroupClaims::or_usual(None).named_by(&with_claims(claims)).map(str::to_owned);
        let both = r#"{"sub":"a","groups":"[members]","cognito:groups":"members"}"#;
        assert_eq!(named(both).as_deref(), Some("members"));
        let contradicting = r#"{"sub":"a","groups":"members","cognito:groups":"[gold]"}"#;
        for none in
            [r#"{"sub":"a","groups":"[gold members]"}"#, r#"{"sub":"a","groups":"gold,members"}"#, contradicting]
        {
            assert_eq!(named(none), None, "{none}");
        }
        assert_eq!(GroupClaims::or_usual(None).named_by(&request("")), None);
    }

    #[test]
    fn an_issuer_may_have_a_claim_of_its_own() {
        let operators = Operators::new("operators", "https://shop.example/role, role");
        for (claims, operator) in [
            (r#"{"sub":"a","https://shop.example/role":"operators","groups":"[a b]"}"#, true),
            (r#"{"sub":"a","role":"operators"}"#, true),
            (r#"{"sub":"a","groups":"[operators]"}"#, false),
        ] {
            assert_eq!(is_operator(&operators, claims), operator, "{claims}");
        }
        assert!(!is_operator(&Operators::new("a b", "groups"), r#"{"sub":"a","groups":"[a b]"}"#), "no such group");
        assert!(!is_operator(&Operators::new("", "groups"), r#"{"sub":"a","groups":""}"#), "the group is empty");
        assert!(!is_operator(&Operators::new("a", ""), r#"{"sub":"a","":"a"}"#), "there are no claims");
    }

    #[test]
    fn without_verified_claims_nobody_is_asking() {
        let claimless = [request(""), request(r#","authorizer":null"#), with_claims("{}")];
        // From the third on, what gateways make of a subject that is not text: null, true or a list.
        let subjects = ["", "a b", "null", "<nil>", "true", "[]", "[alice]", "map[name:alice]", "{}"];
        let subjects = subjects.map(|subject| with_claims(&format!(r#"{{"sub":"{subject}"}}"#)));
        for request in claimless.into_iter().chain(subjects) {
            assert_eq!(caller(&request).unwrap_err().code(), Code::Unauthorized);
        }
    }
}

use lambda_http::request::RequestContext;
use lambda_http::{Request, RequestExt};
use sale::UserId;

use crate::{Code, Problem};

/// Claims that name a user's groups: Cognito's, and the one that most other issuers use.
const GROUP_CLAIMS: [&str; 2] = ["cognito:groups", "groups"];

/// Who is asking, from the claims that the gateway's authorizer verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The token's subject.
    pub user: UserId,
    groups: Vec<String>,
}

impl Caller {
    /// Checks that the caller is in `group`.
    ///
    /// # Errors
    /// 403 if not.
    pub fn require_group(&self, group: &str) -> Result<(), Problem> {
        if self.groups.iter().any(|mine| mine == group) { Ok(()) } else { Err(Problem::new(Code::Denied)) }
    }
}

/// Who is asking. Nothing that a client can write itself is looked at: no header, no query, no body.
///
/// # Errors
/// 401 without verified claims or with a subject that cannot be a user id.
pub fn caller(request: &Request) -> Result<Caller, Problem> {
    let unauthorized = || Problem::new(Code::Unauthorized);
    let context = request.request_context_ref().ok_or_else(unauthorized)?;
    let RequestContext::ApiGatewayV2(context) = context else { return Err(unauthorized()) };
    let claims = context
        .authorizer
        .as_ref()
        .and_then(|authorizer| authorizer.jwt.as_ref())
        .map(|jwt| &jwt.claims)
        .ok_or_else(unauthorized)?;
    let user = claims.get("sub").and_then(|sub| sub.parse().ok()).ok_or_else(unauthorized)?;
    let groups = GROUP_CLAIMS.iter().filter_map(|claim| claims.get(*claim)).flat_map(|text| split(text)).collect();
    Ok(Caller { user, groups })
}

/// The gateway turns a claim that is a list into text: `[operators buyers]`.
fn split(claim: &str) -> Vec<String> {
    let list = claim.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(claim);
    list.split([' ', ',']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
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
        let caller = caller(&with_claims(r#"{"sub":"alice"}"#)).unwrap();
        assert_eq!(caller.user.as_str(), "alice");
        assert_eq!(caller.require_group("operators").unwrap_err().code(), Code::Denied);
    }

    #[test]
    fn groups_come_as_text() {
        for claims in [
            r#"{"sub":"a","cognito:groups":"[operators]"}"#,
            r#"{"sub":"a","cognito:groups":"[buyers operators]"}"#,
            r#"{"sub":"a","groups":"buyers,operators"}"#,
        ] {
            assert_eq!(caller(&with_claims(claims)).unwrap().require_group("operators"), Ok(()), "{claims}");
        }
        for claims in [r#"{"sub":"a","groups":"[operators2]"}"#, r#"{"sub":"operators","groups":""}"#] {
            assert!(caller(&with_claims(claims)).unwrap().require_group("operators").is_err(), "{claims}");
        }
    }

    #[test]
    fn without_verified_claims_nobody_is_asking() {
        let nobody = [
            request(""),
            request(r#","authorizer":null"#),
            with_claims("{}"),
            with_claims(r#"{"sub":""}"#),
            with_claims(r#"{"sub":"a b"}"#),
        ];
        for request in nobody {
            assert_eq!(caller(&request).unwrap_err().code(), Code::Unauthorized);
        }
    }
}

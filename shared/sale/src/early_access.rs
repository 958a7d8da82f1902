use serde::{Deserialize, Serialize};

use crate::invalid_terms::{InvalidTerms, require};
use crate::text_serde::text_type;
use crate::{EpochMs, InvalidId, MAX_GROUP_NAME_LENGTH, MAX_SALE_DURATION_S, MAX_TOTAL};

/// The largest number of groups with early access to a sale: memberships are looked up in one small read.
pub const MAX_EARLY_ACCESS: usize = 4;
/// The longest lead of a group over everyone else, in seconds. A pass has 23 bits for it.
pub const MAX_LEAD_S: u32 = 7 * 24 * 60 * 60;

text_type!(
    /// The name of a group of users. No spaces or commas, which separate the groups in a token's claim.
    GroupName, InvalidId, InvalidId::Group, |text| {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        (1..=MAX_GROUP_NAME_LENGTH).contains(&text.len()) && text.bytes().all(allowed)
    }
);

/// What a group may do before everyone else. Times are relative to the opening, so they hold for every round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlyAccess {
    pub group: GroupName,
    pub lead_s: u32,
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub quota: Option<MemberQuota>,
}

/// A group's quota: units that nobody else can get for a while. After that they are everyone's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberQuota {
    pub units: u32,
    /// How many seconds after everyone's opening it ends.
    pub for_s: u32,
}

/// What a user may do in a round by the groups that the user is in. The default is what everyone may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuyerClass {
    pub lead_s: u32,
    pub has_quota: bool,
}

impl BuyerClass {
    pub const EVERYONE: Self = Self { lead_s: 0, has_quota: false };

    pub fn of<'a>(groups: impl IntoIterator<Item = &'a EarlyAccess>) -> Self {
        groups.into_iter().fold(Self::EVERYONE, |class, early| Self {
            lead_s: class.lead_s.max(early.lead_s),
            has_quota: class.has_quota || early.quota.is_some(),
        })
    }
}

impl EarlyAccess {
    pub(crate) fn longest_lead_s(groups: &[Self]) -> u32 {
        groups.iter().map(|early| early.lead_s).max().unwrap_or(0)
    }

    pub(crate) fn validate(
        groups: &[Self],
        opens_at: EpochMs,
        closes_at: EpochMs,
        total: u32,
        rains: bool,
    ) -> Result<(), InvalidTerms> {
        let require = |holds, problem: &str| require(holds, "early_access", format!("early_access: {problem}"));
        if groups.is_empty() {
            return Ok(());
        }
        require(groups.len() <= MAX_EARLY_ACCESS, &format!("at most {MAX_EARLY_ACCESS} groups"))?;
        let beside_rain = "cannot be combined with rain, whose first units become available at opens_at";
        require(!rains, beside_rain)?;
        for (at, Self { group, lead_s, quota }) in groups.iter().enumerate() {
            require(groups[..at].iter().all(|other| other.group != *group), &format!("{group} is named twice"))?;
            require(*lead_s <= MAX_LEAD_S, &format!("lead_s must be 0 to {MAX_LEAD_S}"))?;
            require(*lead_s > 0 || quota.is_some(), &format!("{group} needs a lead_s above 0, or a quota"))?;
            let Some(MemberQuota { units, for_s }) = quota else { continue };
            require(groups[..at].iter().all(|other| other.quota.is_none()), "only one group can have a quota")?;
            let of_total = format!("quota.units must be 1 to the total of at most {MAX_TOTAL}");
            require((1..=total).contains(units), &of_total)?;
            let ends_in_time = *for_s > 0 && opens_at.plus_s(*for_s) < closes_at;
            require(ends_in_time, "quota.for_s must be at least 1 and end before closes_at")?;
        }
        let first = opens_at.minus_s(Self::longest_lead_s(groups));
        let longest_ms = u64::from(MAX_SALE_DURATION_S) * 1000;
        let days = MAX_SALE_DURATION_S / 86_400;
        let window = format!("closes_at must be at most {days} days after the first group may buy");
        require(first.0 >= 0 && closes_at.since_ms(first) <= longest_ms, &window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Terms;
    use crate::terms::lamp;

    const DAY_MS: i64 = 86_400_000;
    const OPENS: EpochMs = EpochMs(100 * DAY_MS);

    fn group(name: &str) -> GroupName {
        name.parse().unwrap()
    }

    fn early(name: &str, lead_s: u32) -> EarlyAccess {
        EarlyAccess { group: group(name), lead_s, quota: None }
    }

    fn with_units(name: &str, lead_s: u32, units: u32, for_s: u32) -> EarlyAccess {
        EarlyAccess { quota: Some(MemberQuota { units, for_s }), ..early(name, lead_s) }
    }

    fn terms(early_access: Vec<EarlyAccess>) -> Terms {
        Terms { early_access, ..lamp(OPENS, OPENS.plus_s(3600)) }
    }

    fn verdict(terms: &Terms) -> Result<(), String> {
        terms.validate().map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn names_of_groups_are_plain() {
        for good in ["a", "A_b-7", &"g".repeat(MAX_GROUP_NAME_LENGTH)] {
            assert_eq!(good.parse::<GroupName>().unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a,b", "a#b", "[a]", "a\0", "é", &"g".repeat(MAX_GROUP_NAME_LENGTH + 1)] {
            assert_eq!(bad.parse::<GroupName>(), Err(InvalidId::Group), "{bad:?}");
        }
    }

    #[test]
    fn bounds_are_inclusive() {
        for good in [
            vec![],
            vec![early("a", 1)],
            vec![early("a", MAX_LEAD_S)],
            ["a", "b", "c", "d"].map(|name| early(name, 60)).to_vec(),
            vec![with_units("a", 0, 1, 1)],
            vec![with_units("a", 60, 100, 3599), early("b", 1)],
        ] {
            assert_eq!(verdict(&terms(good.clone())), Ok(()), "{good:?}");
        }
    }

    #[test]
    fn outside_the_bounds_is_refused() {
        let units = "quota.units must be 1 to the total of at most 10000000";
        let until = "quota.for_s must be at least 1 and end before closes_at";
        let window = Err("early_access: closes_at must be at most 31 days after the first group may buy".to_owned());
        for (bad, problem) in [
            (["a", "b", "c", "d", "e"].map(|name| early(name, 60)).to_vec(), "at most 4 groups"),
            (vec![early("a", 60), early("a", 30)], "a is named twice"),
            (vec![early("a", MAX_LEAD_S + 1)], "lead_s must be 0 to 604800"),
            (vec![early("a", 60), early("b", 0)], "b needs a lead_s above 0, or a quota"),
            (vec![with_units("a", 60, 1, 1), with_units("b", 60, 1, 1)], "only one group can have a quota"),
            (vec![with_units("a", 60, 0, 1)], units),
            (vec![with_units("a", 60, 101, 1)], units),
            (vec![with_units("a", 60, 1, 0)], until),
            (vec![with_units("a", 60, 1, 3600)], until),
        ] {
            assert_eq!(verdict(&terms(bad)), Err(format!("early_access: {problem}")));
        }
        let long = Terms { closes_at_ms: EpochMs(OPENS.0 + 31 * DAY_MS), ..terms(vec![early("a", 1)]) };
        assert_eq!(verdict(&long), window);
        let raining =
            Terms { rain: Some(crate::Rain { at_once: 1, ..crate::Rain::default() }), ..terms(vec![early("a", 1)]) };
        assert!(verdict(&raining).unwrap_err().starts_with("early_access: cannot be combined with rain"));
        assert_eq!(Terms { early_access: vec![], ..raining }.validate(), Ok(()));
        let in_1970 = Terms { opens_at_ms: EpochMs(0), closes_at_ms: EpochMs(1), ..terms(vec![early("a", 1)]) };
        assert_eq!(verdict(&in_1970), window);
    }

    #[test]
    fn who_is_in_several_groups_has_the_best_of_each() {
        let terms = terms(vec![early("first", 600), with_units("second", 60, 10, 300)]);
        let class = |names: &[&str]| terms.class_of(|group| names.contains(&group.as_str()));
        assert_eq!(class(&[]), BuyerClass::EVERYONE);
        assert_eq!(class(&["firs", "third"]), BuyerClass::EVERYONE);
        assert_eq!(class(&["first"]), BuyerClass { lead_s: 600, has_quota: false });
        assert_eq!(class(&["second"]), BuyerClass { lead_s: 60, has_quota: true });
        assert_eq!(class(&["second", "first"]), BuyerClass { lead_s: 600, has_quota: true });
    }

    #[test]
    fn moments_are_relative_to_the_opening() {
        let plain = terms(vec![]);
        assert_eq!((plain.first_opens_at_ms(), plain.quota(), plain.groups_matter_until_ms()), (OPENS, None, None));
        let leads = terms(vec![early("a", 60), early("b", 600)]);
        assert_eq!(leads.first_opens_at_ms(), EpochMs(OPENS.0 - 600_000));
        assert_eq!(leads.groups_matter_until_ms(), Some(OPENS));
        let units = terms(vec![early("a", 60), with_units("b", 0, 10, 300)]);
        assert_eq!(units.quota(), Some((10, OPENS.plus_s(300))));
        assert_eq!(units.groups_matter_until_ms(), Some(OPENS.plus_s(300)));
    }
}

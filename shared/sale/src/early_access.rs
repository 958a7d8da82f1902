use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text_serde::text_serde;
use crate::{EpochMs, MAX_SALE_DURATION_S, MAX_TOTAL, Terms};

/// The largest number of groups with early access to a sale: memberships are looked up in one small read.
pub const MAX_EARLY_ACCESS: usize = 4;
/// The longest lead of a group over everyone else, in seconds. A pass has 23 bits for it.
pub const MAX_LEAD_S: u32 = 7 * 24 * 60 * 60;
/// The longest name of a group. It is part of a key for each member.
pub const MAX_GROUP_NAME_LENGTH: usize = 48;

/// The name of a group of users: 1 to [`MAX_GROUP_NAME_LENGTH`] of `A-Z`, `a-z`, `0-9`, `-`, `_`. No spaces or commas,
/// which separate the groups in a token's claim.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GroupName(String);

/// Not the name of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a group's name has 1 to {MAX_GROUP_NAME_LENGTH} of A-Z, a-z, 0-9, - and _")]
pub struct InvalidGroupName;

impl GroupName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for GroupName {
    type Err = InvalidGroupName;
    fn from_str(text: &str) -> Result<Self, InvalidGroupName> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        let good = (1..=MAX_GROUP_NAME_LENGTH).contains(&text.len()) && text.bytes().all(allowed);
        if good { Ok(Self(text.to_owned())) } else { Err(InvalidGroupName) }
    }
}

text_serde!(GroupName, InvalidGroupName);

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a group may do before everyone else. Times are relative to the opening, so that they hold for every round of a
/// recurring sale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlyAccess {
    /// The group.
    pub group: GroupName,
    /// How many seconds before everyone's opening the group may buy.
    pub lead_s: u32,
    /// Its quota of the units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<MemberQuota>,
}

/// A group's quota: units that nobody else can get for a while. After that they are everyone's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberQuota {
    /// How many of the round's units, whichever they are.
    pub units: u32,
    /// How many seconds after everyone's opening it ends.
    pub for_s: u32,
}

/// What a user may do in a round by the groups that the user is in. The default is what everyone may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuyerClass {
    /// How many seconds before everyone's opening the user may buy.
    pub lead_s: u32,
    /// Whether the user may have units of the quota.
    pub has_quota: bool,
}

impl BuyerClass {
    /// A user in no group.
    pub const EVERYONE: Self = Self { lead_s: 0, has_quota: false };

    /// A user in all of these groups: the best of each.
    pub fn of<'a>(groups: impl IntoIterator<Item = &'a EarlyAccess>) -> Self {
        groups.into_iter().fold(Self::EVERYONE, |class, early| Self {
            lead_s: class.lead_s.max(early.lead_s),
            has_quota: class.has_quota || early.quota.is_some(),
        })
    }
}

/// Invalid early access.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEarlyAccess {
    /// Too many groups.
    #[error("early_access: at most {MAX_EARLY_ACCESS} groups")]
    Groups,
    /// A group is named twice.
    #[error("early_access: {0} is named twice")]
    Twice(GroupName),
    /// A lead is too long.
    #[error("early_access: lead_s must be 0 to {MAX_LEAD_S}")]
    Lead,
    /// A group that has no advantage.
    #[error("early_access: {0} needs a lead_s above 0, or a quota")]
    Nothing(GroupName),
    /// The round is open for too long, counted from its first opening.
    #[error("early_access: closes_at must be at most {} days after the first group may buy", MAX_SALE_DURATION_S / 86_400)]
    Window,
    /// The units become available over time.
    #[error("early_access: cannot be combined with rain, whose first units become available at opens_at")]
    Rain,
    /// Two groups have a quota.
    #[error("early_access: only one group can have a quota")]
    QuotaTwice,
    /// No units, or more than there are.
    #[error("early_access: quota.units must be 1 to the total of at most {MAX_TOTAL}")]
    Units,
    /// The quota would last until the end.
    #[error("early_access: quota.for_s must be at least 1 and end before closes_at")]
    Until,
}

impl Terms {
    /// When the first users can buy: the earliest opening of a group, or everyone's.
    pub fn first_opens_at_ms(&self) -> EpochMs {
        self.opens_at_ms.minus_s(self.longest_lead_s())
    }

    /// The longest lead of a group, in seconds.
    pub(crate) fn longest_lead_s(&self) -> u32 {
        self.early_access.iter().map(|early| early.lead_s).max().unwrap_or(0)
    }

    /// How many units the quota has at first, and when it ends.
    pub fn quota(&self) -> Option<(u32, EpochMs)> {
        let MemberQuota { units, for_s } = self.early_access.iter().find_map(|early| early.quota)?;
        Some((units, self.opens_at_ms.plus_s(for_s)))
    }

    /// When groups no longer matter. `None` if they never do.
    pub fn groups_matter_until_ms(&self) -> Option<EpochMs> {
        if self.early_access.is_empty() {
            return None;
        }
        Some(self.quota().map_or(self.opens_at_ms, |(_, until)| until.max(self.opens_at_ms)))
    }

    /// What a user may do who is in the groups for which `is_member` is true: the best of each.
    pub fn class_of(&self, is_member: impl Fn(&GroupName) -> bool) -> BuyerClass {
        BuyerClass::of(self.early_access.iter().filter(|early| is_member(&early.group)))
    }

    /// Checks all bounds of early access.
    pub(crate) fn validate_early_access(&self) -> Result<(), InvalidEarlyAccess> {
        let all = &self.early_access;
        if all.is_empty() {
            return Ok(());
        }
        if all.len() > MAX_EARLY_ACCESS {
            return Err(InvalidEarlyAccess::Groups);
        }
        if self.rain.is_some() {
            return Err(InvalidEarlyAccess::Rain);
        }
        for (at, EarlyAccess { group, lead_s, quota }) in all.iter().enumerate() {
            if all[..at].iter().any(|before| before.group == *group) {
                return Err(InvalidEarlyAccess::Twice(group.clone()));
            }
            if *lead_s > MAX_LEAD_S {
                return Err(InvalidEarlyAccess::Lead);
            }
            if *lead_s == 0 && quota.is_none() {
                return Err(InvalidEarlyAccess::Nothing(group.clone()));
            }
            if let Some(MemberQuota { units, for_s }) = quota {
                if all[..at].iter().any(|before| before.quota.is_some()) {
                    return Err(InvalidEarlyAccess::QuotaTwice);
                }
                if !(1..=self.total).contains(units) {
                    return Err(InvalidEarlyAccess::Units);
                }
                if *for_s == 0 || self.opens_at_ms.plus_s(*for_s) >= self.closes_at_ms {
                    return Err(InvalidEarlyAccess::Until);
                }
            }
        }
        let first = self.first_opens_at_ms();
        if first.0 < 0 || self.closes_at_ms.since_ms(first) > u64::from(MAX_SALE_DURATION_S) * 1000 {
            return Err(InvalidEarlyAccess::Window);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InvalidTerms;
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

    fn verdict(early_access: Vec<EarlyAccess>) -> Result<(), InvalidEarlyAccess> {
        match terms(early_access).validate() {
            Ok(()) => Ok(()),
            Err(InvalidTerms::EarlyAccess(error)) => Err(error),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn names_of_groups_are_plain() {
        for good in ["a", "A_b-7", &"g".repeat(MAX_GROUP_NAME_LENGTH)] {
            assert_eq!(good.parse::<GroupName>().unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a,b", "a#b", "[a]", "a\0", "é", &"g".repeat(MAX_GROUP_NAME_LENGTH + 1)] {
            assert_eq!(bad.parse::<GroupName>(), Err(InvalidGroupName), "{bad:?}");
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
            assert_eq!(verdict(good.clone()), Ok(()), "{good:?}");
        }
    }

    #[test]
    fn outside_the_bounds_is_refused() {
        use InvalidEarlyAccess::*;
        for (bad, error) in [
            (["a", "b", "c", "d", "e"].map(|name| early(name, 60)).to_vec(), Groups),
            (vec![early("a", 60), early("a", 30)], Twice(group("a"))),
            (vec![early("a", MAX_LEAD_S + 1)], Lead),
            (vec![early("a", 60), early("b", 0)], Nothing(group("b"))),
            (vec![with_units("a", 60, 1, 1), with_units("b", 60, 1, 1)], QuotaTwice),
            (vec![with_units("a", 60, 0, 1)], Units),
            (vec![with_units("a", 60, 101, 1)], Units),
            (vec![with_units("a", 60, 1, 0)], Until),
            (vec![with_units("a", 60, 1, 3600)], Until),
        ] {
            assert_eq!(verdict(bad), Err(error));
        }
        let long = Terms { closes_at_ms: EpochMs(OPENS.0 + 31 * DAY_MS), ..terms(vec![early("a", 1)]) };
        assert_eq!(long.validate(), Err(InvalidTerms::EarlyAccess(Window)));
        let raining =
            Terms { rain: Some(crate::Rain { at_once: 1, ..crate::Rain::default() }), ..terms(vec![early("a", 1)]) };
        assert_eq!(raining.validate(), Err(InvalidTerms::EarlyAccess(Rain)));
        assert_eq!(Terms { early_access: vec![], ..raining }.validate(), Ok(()));
        let in_1970 = Terms { opens_at_ms: EpochMs(0), closes_at_ms: EpochMs(1), ..terms(vec![early("a", 1)]) };
        assert_eq!(in_1970.validate(), Err(InvalidTerms::EarlyAccess(Window)));
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

    #[test]
    fn plain_terms_are_stored_as_they_were() {
        let stored = serde_json::to_value(terms(vec![])).unwrap();
        assert_eq!(stored.get("early_access"), None);
        assert_eq!(serde_json::from_value::<Terms>(stored).unwrap(), terms(vec![]));
        let stored = serde_json::to_value(terms(vec![early("a", 60), with_units("b", 0, 10, 300)])).unwrap();
        assert_eq!(
            stored["early_access"],
            serde_json::json!([
                { "group": "a", "lead_s": 60 },
                { "group": "b", "lead_s": 0, "quota": { "units": 10, "for_s": 300 } },
            ])
        );
        assert_eq!(serde_json::from_value::<Terms>(stored).unwrap().early_access.len(), 2);
    }
}

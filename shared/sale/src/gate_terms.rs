use serde::{Deserialize, Serialize};

use crate::GroupName;
use crate::invalid_terms::{InvalidTerms, require, within};

/// The least work, in zero bits: some thousand attempts, which take almost no time.
pub const MIN_WORK_BITS: u8 = 12;
/// The most work, in zero bits: sixteen million attempts, which a slow phone can just do while a challenge is valid.
pub const MAX_WORK_BITS: u8 = 24;
/// The default work, in zero bits: about a million attempts, which take a phone one to a few seconds.
pub const USUAL_WORK_BITS: u8 = 20;
/// The largest number of groups that may see a sale, and that may buy: memberships are looked up in one small read.
pub const MAX_GATE_GROUPS: usize = 4;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChallengePolicy {
    /// A picture, or work for people who cannot see it.
    #[default]
    Any,
    Picture,
    Work,
    None,
}

/// What the gate of a sale requires, and who may see the sale and buy. [`DoorTerms`](crate::DoorTerms) are about users
/// who misbehave; these are about everybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateTerms {
    pub challenge: ChallengePolicy,
    /// Zero bits that a proof of work must begin with.
    pub work_bits: u8,
    /// Groups that may see the sale. Everybody may if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups_see: Vec<GroupName>,
    /// Groups that may buy. Everybody who sees the sale may if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups_buy: Vec<GroupName>,
}

impl Default for GateTerms {
    fn default() -> Self {
        let (groups_see, groups_buy) = (Vec::new(), Vec::new());
        Self { challenge: ChallengePolicy::Any, work_bits: USUAL_WORK_BITS, groups_see, groups_buy }
    }
}

impl GateTerms {
    pub const fn is_hidden(&self) -> bool {
        !self.groups_see.is_empty()
    }

    pub(crate) fn validate(&self, has_awards: bool) -> Result<(), InvalidTerms> {
        let Self { challenge: _any_policy, work_bits, groups_see, groups_buy } = self;
        within(MIN_WORK_BITS..=MAX_WORK_BITS, "gate.work_bits", *work_bits)?;
        for (name, groups) in [("groups_see", groups_see), ("groups_buy", groups_buy)] {
            require(groups.len() <= MAX_GATE_GROUPS, "gate", format!("gate.{name}: at most {MAX_GATE_GROUPS} groups"))?;
            for (at, group) in groups.iter().enumerate() {
                require(!groups[..at].contains(group), "gate", format!("gate.{name}: {group} is named twice"))?;
            }
        }
        // Everybody can verify a draw.
        let problem = "gate.groups_see: cannot be combined with awards, whose draw is public";
        require(!(self.is_hidden() && has_awards), "gate", problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::{lamp, packet};
    use crate::{Allocation, EpochMs, Prize};

    fn verdict(change: impl FnOnce(&mut GateTerms)) -> Result<(), String> {
        let mut terms = lamp(EpochMs(1_000_000), EpochMs(2_000_000));
        change(&mut terms.gate);
        terms.validate().map_err(|invalid| invalid.to_string())
    }

    fn groups(names: &[&str]) -> Vec<GroupName> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    #[test]
    fn groups_are_few_and_each_is_named_once() {
        let many = ["a", "b", "c", "d", "e"];
        let (see, buy) = ("gate.groups_see: at most 4 groups", "gate.groups_buy: at most 4 groups");
        assert_eq!(verdict(|gate| gate.groups_see = groups(&many[..4])), Ok(()));
        assert_eq!(verdict(|gate| gate.groups_see = groups(&many)), Err(see.to_owned()));
        assert_eq!(verdict(|gate| gate.groups_buy = groups(&many[..4])), Ok(()));
        assert_eq!(verdict(|gate| gate.groups_buy = groups(&many)), Err(buy.to_owned()));
        let twice = "gate.groups_buy: b is named twice".to_owned();
        assert_eq!(verdict(|gate| gate.groups_buy = groups(&["b", "a", "b"])), Err(twice));
    }

    #[test]
    fn a_sale_with_a_public_draw_is_seen_by_everybody() {
        let prizes = vec![Prize { name: "A cup".into(), count: 1 }];
        let mut terms = packet(Allocation::Prizes { prizes, draw: crate::DrawTime::default(), beacon: false });
        terms.gate.groups_see = groups(&["members"]);
        let problem = terms.validate().unwrap_err().to_string();
        assert_eq!(problem, "gate.groups_see: cannot be combined with awards, whose draw is public");
        terms.gate = GateTerms { groups_buy: groups(&["members"]), ..GateTerms::default() };
        assert_eq!(terms.validate(), Ok(()));
    }
}

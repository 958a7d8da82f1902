use award::{Bytes32, Hex};
use sale::{CampaignId, GroupName, ReservationId, RoundId, SaleId, Slot, Unit, UserId};

/// A user's orders by time.
pub(crate) const ORDERS_BY_USER: &str = "orders_by_user";
/// PENDING orders by the end of their payment window.
pub(crate) const PENDING_BY_PAY_BY: &str = "pending_by_pay_by";
/// A round's unit guards.
pub(crate) const GUARDS_BY_ROUND: &str = "guards_by_round";
/// A round's live orders.
pub(crate) const ORDERS_BY_ROUND: &str = "orders_by_round";
/// Rounds of published sales by their end.
pub(crate) const SALES_BY_CLOSE: &str = "sales_by_close";
/// Denials by their end.
pub(crate) const DENIED_BY_END: &str = "denied_by_end";
/// The one partition of [`DENIED_BY_END`]: it is read whole, and written by operators and for repeated misuse only.
pub(crate) const DENIED: &str = "denied";
/// A user's connections by time.
pub(crate) const CONNECTIONS_BY_USER: &str = "connections_by_user";
/// Campaigns by their ids.
pub(crate) const CAMPAIGNS_BY_ID: &str = "campaigns_by_id";
/// The one partition of [`CAMPAIGNS_BY_ID`]: it is read whole, and written by operators only.
pub(crate) const CAMPAIGNS: &str = "campaigns";
/// A group's users.
pub(crate) const MEMBERS_BY_GROUP: &str = "members_by_group";
/// Partitions of a group in [`MEMBERS_BY_GROUP`]: so many thousand users a second can be written.
pub(crate) const MEMBER_SHARDS: u32 = 16;
/// What operators have stopped.
pub(crate) const SWITCHES: &str = "SWITCHES";
/// The one partition of [`SALES_BY_CLOSE`]: there are few rounds, and few writes to each.
pub(crate) const PUBLISHED: &str = "published";

/// Partitions of the index of pending orders. One takes 1,000 writes a second (DynamoDB developer guide, "Burst and
/// adaptive capacity"), so this many take any sale that the order queue's concurrency lets through.
pub(crate) const PENDING_SHARDS: u32 = 16;
/// Partitions of a round's indexes of guards and of live orders, for the same reason.
pub const ROUND_SHARDS: u32 = 16;

/// Orders in one page of a user's list.
pub const ORDERS_PAGE: i32 = 20;

pub(crate) fn sale(id: &SaleId) -> String {
    format!("SALE#{id}")
}

pub(crate) fn order(id: &ReservationId) -> String {
    format!("ORDER#{id}")
}

pub(crate) fn unit(RoundId { sale, number }: &RoundId, unit: Unit) -> String {
    format!("UNIT#{sale}#{number}#{unit}")
}

/// A user id may contain `#`: it stands between fields that cannot, so the key still reads one way.
pub(crate) fn slot(RoundId { sale, number }: &RoundId, user: &UserId, slot: Slot) -> String {
    format!("SLOT#{sale}#{number}#{user}#{slot}")
}

pub(crate) fn campaign(id: &CampaignId) -> String {
    format!("CAMPAIGN#{id}")
}

/// A group's name has no `#`, so the key reads one way.
pub(crate) fn member(group: &GroupName, user: &UserId) -> String {
    format!("GROUP#{group}#{user}")
}

pub(crate) fn member_shard(group: &GroupName, shard: u32) -> String {
    format!("GROUP#{group}#{shard}")
}

/// In which part of a group's list a user is, by a hash that stays the same (FNV-1a): the index has it.
pub(crate) fn shard_of_member(user: &UserId) -> u32 {
    let hash =
        user.as_str().bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash % MEMBER_SHARDS
}

/// Providers' ids have no form of their own, so this prefix ends the key.
pub(crate) fn payment(id: &str) -> String {
    format!("PAYMENT#{id}")
}

pub(crate) fn denied(user: &UserId) -> String {
    format!("DENIED#{user}")
}

pub(crate) fn strikes(user: &UserId) -> String {
    format!("STRIKES#{user}")
}

pub(crate) fn connection(id: &str) -> String {
    format!("CONN#{id}")
}

/// The connection whose key this is.
pub(crate) fn connection_id(pk: &str) -> Option<&str> {
    pk.strip_prefix("CONN#")
}

pub(crate) fn pending_shard(id: &ReservationId) -> String {
    // The UUID's last bits are random or hashed, whatever its version.
    pending_shard_name(id.uuid.as_u128() as u32 % PENDING_SHARDS)
}

pub(crate) fn pending_shard_name(shard: u32) -> String {
    format!("PENDING#{shard}")
}

/// The order whose key this is.
pub(crate) fn order_id(pk: &str) -> Option<ReservationId> {
    pk.strip_prefix("ORDER#")?.parse().ok()
}

pub(crate) fn round_shard(RoundId { sale, number }: &RoundId, shard: u32) -> String {
    format!("ROUND#{sale}#{number}#{shard}")
}

/// Where a round's live orders are: found without going through guards.
pub(crate) fn live_shard(RoundId { sale, number }: &RoundId, shard: u32) -> String {
    format!("LIVE#{sale}#{number}#{shard}")
}

pub(crate) fn round(RoundId { sale, number }: &RoundId) -> String {
    format!("ROUND#{sale}#{number}")
}

pub(crate) fn seed(RoundId { sale, number }: &RoundId) -> String {
    format!("SEED#{sale}#{number}")
}

/// The beacon of a round's draw.
pub(crate) fn beacon(RoundId { sale, number }: &RoundId) -> String {
    format!("BEACON#{sale}#{number}")
}

/// A chunk of the table of a round's awards.
pub(crate) fn table(RoundId { sale, number }: &RoundId, chunk: u32) -> String {
    format!("TABLE#{sale}#{number}#{chunk}")
}

/// How far the draw at the end of a round is.
pub(crate) fn draw(RoundId { sale, number }: &RoundId) -> String {
    format!("DRAW#{sale}#{number}")
}

/// What orders of units of one shard check, once the draw of their round may have begun.
pub(crate) fn fence(RoundId { sale, number }: &RoundId, shard: u32) -> String {
    format!("FENCE#{sale}#{number}#{shard}")
}

/// What a draw knows of the loss of its round in Redis.
pub(crate) fn loss(RoundId { sale, number }: &RoundId) -> String {
    format!("LOST#{sale}#{number}")
}

/// A chunk of the entries of a draw whose tree has this root.
pub(crate) fn entries(RoundId { sale, number }: &RoundId, root: &Bytes32, chunk: u32) -> String {
    format!("ENTRIES#{sale}#{number}#{}#{chunk}", Hex(root))
}

/// The prize with this number, from 1, of a draw at the end.
pub(crate) fn winner(RoundId { sale, number }: &RoundId, position: u32) -> String {
    format!("WINNER#{sale}#{number}#{position}")
}

pub(crate) fn shard_of(unit: Unit) -> u32 {
    unit.0 % ROUND_SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies in the index stays where it is looked for.
    #[test]
    fn a_member_stays_in_its_part_of_the_list() {
        // The published test vectors of FNV-1a: "a" is e40c292c, "foobar" bf9cf968.
        for (user, hash) in [("a", 0xe40c_292c_u32), ("foobar", 0xbf9c_f968)] {
            assert_eq!(shard_of_member(&user.parse().unwrap()), hash % 16);
        }
    }
}

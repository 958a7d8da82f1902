use sale::award::{Bytes32, Hex};
use sale::{CampaignId, GroupName, ReservationId, RoundId, SaleId, Slot, Unit, UserId};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::LedgerError;

pub(crate) const ORDERS_BY_USER: &str = "orders_by_user";
pub(crate) const PENDING_BY_PAY_BY: &str = "pending_by_pay_by";
pub(crate) const GUARDS_BY_ROUND: &str = "guards_by_round";
pub(crate) const ORDERS_BY_ROUND: &str = "orders_by_round";
/// A round's orders by time, in any state.
pub(crate) const ORDERS_BY_TIME: &str = "orders_by_time";
/// Payments to refund, by when that was recorded.
pub(crate) const REFUNDS_BY_TIME: &str = "refunds_by_time";
/// Rounds of published sales by their end; also drafts, and withdrawn sales.
pub(crate) const SALES_BY_CLOSE: &str = "sales_by_close";
pub(crate) const BLOCKED_BY_END: &str = "blocked_by_end";
/// The only partition of [`BLOCKED_BY_END`]: it is read whole, and only written by operators and for repeated misuse.
pub(crate) const BLOCKED: &str = "blocked";
pub(crate) const CONNECTIONS_BY_USER: &str = "connections_by_user";
pub(crate) const CAMPAIGNS_BY_ID: &str = "campaigns_by_id";
/// The only partition of [`CAMPAIGNS_BY_ID`]: it is read whole, and only written by operators.
pub(crate) const CAMPAIGNS: &str = "campaigns";
pub(crate) const MEMBERS_BY_GROUP: &str = "members_by_group";
/// Partitions of a group in [`MEMBERS_BY_GROUP`]: each allows a thousand writes a second.
pub(crate) const MEMBER_SHARDS: u32 = 16;
pub(crate) const KILL_SWITCHES: &str = "KILL_SWITCHES";
pub(crate) const BLOCKED_NETWORKS: &str = "BLOCKED_NETWORKS";
/// The gate's list, without notes. The kill switches have its version, so that processes read it when it has changed.
pub(crate) const NETWORKS_FOR_GATE: &str = "NETWORKS_FOR_GATE";
/// Which published rounds changed last.
pub(crate) const CHANGES: &str = "CHANGES";
/// Partitions of [`SALES_BY_CLOSE`] with rounds. Lambda starts a thousand processes in ten seconds (Lambda developer
/// guide, "Understanding Lambda function scaling"), and each reads all of them once: of 1,000 sales, 1.5 units from
/// each, so 150 of the 3,000 that a partition allows.
const PUBLISHED_LISTS: u32 = 8;
/// The partition of [`SALES_BY_CLOSE`] with drafts.
pub(crate) const DRAFTS: &str = "draft";
/// The partition of [`SALES_BY_CLOSE`] with withdrawn sales.
pub(crate) const WITHDRAWN: &str = "withdrawn";

/// Partitions of the index of pending orders. Each allows 1,000 writes a second (DynamoDB developer guide, "Burst and
/// adaptive capacity"), so together they allow more than the order queue's concurrency lets through.
pub(crate) const PENDING_SHARDS: u32 = 16;
/// Partitions of [`REFUNDS_BY_TIME`], for the same reason: a whole round's payments may come late.
pub(crate) const REFUND_SHARDS: u32 = 16;
/// Partitions of each of a round's indexes (guards, live orders, orders by time), for the same reason.
pub const ROUND_SHARDS: u32 = 16;

pub const ORDERS_PAGE: i32 = 20;

/// Prefixes of the items whose changes the merchant's systems hear of; the stream's filter in `infra/cdk` has the same.
pub(crate) const ORDERS_BEGIN: &str = "ORDER#";
pub(crate) const PAYMENTS_BEGIN: &str = "PAYMENT#";
pub(crate) const MILESTONES_BEGIN: &str = "MILESTONES#";

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident $arguments:tt => $key:literal;)*) => {
        $($(#[$doc])* pub(crate) fn $name $arguments -> String {
            format!($key)
        })*
    };
}

keys! {
    sale(id: &SaleId) => "SALE#{id}";
    published_list_name(list: u32) => "published#{list}";
    order(id: &ReservationId) => "{ORDERS_BEGIN}{id}";
    unit(RoundId { sale, number }: &RoundId, unit: Unit) => "UNIT#{sale}#{number}#{unit}";
    /// A user id may contain `#`, but the fields around it cannot, so the key is unambiguous.
    slot(RoundId { sale, number }: &RoundId, user: &UserId, slot: Slot) => "SLOT#{sale}#{number}#{user}#{slot}";
    /// The live orders of a user in all sales of a campaign with a limit.
    campaign_user(id: &CampaignId, user: &UserId) => "CAMPAIGN_USER#{id}#{user}";
    campaign(id: &CampaignId) => "CAMPAIGN#{id}";
    /// A group's name has no `#`, so the key is unambiguous.
    member(group: &GroupName, user: &UserId) => "GROUP#{group}#{user}";
    member_shard(group: &GroupName, shard: u32) => "GROUP#{group}#{shard}";
    /// Providers' ids can have any form, so the id comes last in the key.
    payment(id: &str) => "{PAYMENTS_BEGIN}{id}";
    refund_shard_name(shard: u32) => "REFUND#{shard}";
    blocked(user: &UserId) => "BLOCKED#{user}";
    violations(user: &UserId) => "VIOLATIONS#{user}";
    connection(id: &str) => "CONN#{id}";
    pending_shard_name(shard: u32) => "PENDING#{shard}";
    round_shard(RoundId { sale, number }: &RoundId, shard: u32) => "ROUND#{sale}#{number}#{shard}";
    /// The partition of a round's live orders, which are found independently of guards.
    live_shard(RoundId { sale, number }: &RoundId, shard: u32) => "LIVE#{sale}#{number}#{shard}";
    order_shard_name(RoundId { sale, number }: &RoundId, shard: u32) => "{sale}#{number}#{shard}";
    milestones(RoundId { sale, number }: &RoundId) => "{MILESTONES_BEGIN}{sale}#{number}";
    table(RoundId { sale, number }: &RoundId, chunk: u32) => "TABLE#{sale}#{number}#{chunk}";
    /// The item that orders of one shard's units check, once the draw of their round may have begun.
    fence(RoundId { sale, number }: &RoundId, shard: u32) => "FENCE#{sale}#{number}#{shard}";
    /// The prize with this number, from 1, of a draw at the end.
    winner(RoundId { sale, number }: &RoundId, position: u32) => "WINNER#{sale}#{number}#{position}";
    line(RoundId { sale, number }: &RoundId) => "LINE#{sale}#{number}";
    seed(RoundId { sale, number }: &RoundId) => "SEED#{sale}#{number}";
    round(RoundId { sale, number }: &RoundId) => "ROUND#{sale}#{number}";
    loading(RoundId { sale, number }: &RoundId) => "LOADING#{sale}#{number}";
    traffic(RoundId { sale, number }: &RoundId) => "TRAFFIC#{sale}#{number}";
    beacon(RoundId { sale, number }: &RoundId) => "BEACON#{sale}#{number}";
    draw(RoundId { sale, number }: &RoundId) => "DRAW#{sale}#{number}";
    /// What a draw knows about the loss of its round in Redis.
    loss(RoundId { sale, number }: &RoundId) => "LOST#{sale}#{number}";
}

pub(crate) fn published_list(sale: &SaleId) -> String {
    published_list_name(hash(sale.as_str()) % PUBLISHED_LISTS)
}

pub(crate) fn published_lists() -> impl Iterator<Item = String> {
    (0..PUBLISHED_LISTS).map(published_list_name)
}

/// The part of a group's list that has a user; stored in the index.
pub(crate) fn shard_of_member(user: &UserId) -> u32 {
    hash(user.as_str()) % MEMBER_SHARDS
}

/// A stable hash (FNV-1a).
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

pub(crate) fn payment_id(pk: &str) -> Result<String, LedgerError> {
    let id = pk.strip_prefix(PAYMENTS_BEGIN).map(str::to_owned);
    id.ok_or_else(|| LedgerError::Contradiction(format!("{pk} is not a payment")))
}

pub(crate) fn refund_shard(payment_id: &str) -> String {
    refund_shard_name(hash(payment_id) % REFUND_SHARDS)
}

pub(crate) fn pending_shard(id: &ReservationId) -> String {
    pending_shard_name(last_bits(id) % PENDING_SHARDS)
}

/// The UUID's last bits, which are random or hashed in every version.
fn last_bits(id: &ReservationId) -> u32 {
    id.uuid.as_u128() as u32
}

pub(crate) fn order_id(pk: &str) -> Result<ReservationId, LedgerError> {
    let id = pk.strip_prefix(ORDERS_BEGIN).and_then(|id| id.parse().ok());
    id.ok_or_else(|| LedgerError::Contradiction(format!("{pk} is not an order")))
}

pub(crate) fn order_shard(id: &ReservationId) -> String {
    order_shard_name(&id.round, shard_of_order(id))
}

pub(crate) fn shard_of_order(id: &ReservationId) -> u32 {
    last_bits(id) % ROUND_SHARDS
}

fn key_of<'de, D: Deserializer<'de>, T>(from: D, read: impl FnOnce(&str) -> Option<T>) -> Result<T, D::Error> {
    let pk = String::deserialize(from)?;
    read(&pk).ok_or_else(|| D::Error::custom(format!("{pk} is the key of something else")))
}

pub(crate) fn round_of<'de, D: Deserializer<'de>>(from: D) -> Result<RoundId, D::Error> {
    key_of(from, |pk| {
        let (sale, number) = pk.strip_prefix("ROUND#")?.split_once('#')?;
        Some(RoundId { sale: sale.parse().ok()?, number: number.parse().ok()? })
    })
}

pub(crate) fn payment_of<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    key_of(from, |pk| payment_id(pk).ok())
}

pub(crate) fn connection_of<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    key_of(from, |pk| pk.strip_prefix("CONN#").map(str::to_owned))
}

/// A chunk of the entries of a draw whose tree has this root.
pub(crate) fn entries(RoundId { sale, number }: &RoundId, root: &Bytes32, chunk: u32) -> String {
    format!("ENTRIES#{sale}#{number}#{}#{chunk}", Hex(root))
}

pub(crate) fn shard_of(unit: Unit) -> u32 {
    unit.0 % ROUND_SHARDS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Whoever lists them reads all partitions from 0 to the last one, and no other.
    #[test]
    fn what_is_written_is_in_a_partition_that_is_read_and_each_has_its_share() {
        let units: BTreeSet<u32> = (1..=ROUND_SHARDS).map(|unit| shard_of(Unit(unit))).collect();
        assert_eq!(units, (0..ROUND_SHARDS).collect());
        let refunds: BTreeSet<String> = (0..1_000).map(|n| refund_shard(&format!("payment-{n}"))).collect();
        assert_eq!(refunds, (0..REFUND_SHARDS).map(refund_shard_name).collect());
        let lists: BTreeSet<String> =
            (0..1_000).map(|n| published_list(&format!("sale-{n}").parse().unwrap())).collect();
        assert_eq!(lists, published_lists().collect());
    }

    #[test]
    fn no_two_items_of_rounds_share_a_key() {
        let rounds = ["lamp.1", "lamp.2", "lamp.11", "chair.1"].map(|id| id.parse::<RoundId>().unwrap());
        let alice = "alice".parse().unwrap();
        let keys_of = |id: &RoundId| {
            let numbered = (1..=2).flat_map(|n| {
                let (slot, entries) = (slot(id, &alice, Slot(n as u8)), entries(id, &[7; 32], n));
                [unit(id, Unit(n)), slot, table(id, n), fence(id, n), entries, winner(id, n)]
            });
            let single: [fn(&RoundId) -> String; 9] =
                [round, line, seed, milestones, traffic, beacon, draw, loss, loading];
            numbered.chain(single.map(|key| key(id))).collect::<Vec<_>>()
        };
        let all: Vec<String> = rounds.iter().flat_map(keys_of).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:#?}");
    }

    /// Items in the index must be found again by later versions.
    #[test]
    fn a_member_stays_in_its_part_of_the_list() {
        // The published test vectors of FNV-1a: "a" is e40c292c, "foobar" bf9cf968.
        for (user, hash) in [("a", 0xe40c_292c_u32), ("foobar", 0xbf9c_f968)] {
            assert_eq!(shard_of_member(&user.parse().unwrap()), hash % 16);
        }
    }
}

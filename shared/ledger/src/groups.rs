use std::collections::HashSet;
use std::time::Duration;

use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, WriteRequest};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use sale::{GroupName, UserId};
use serde::Deserialize;

use crate::calls::{COMPLETE, Call};
use crate::item::{from_item, item_of, pk_of, text};
use crate::{Ledger, LedgerError, keys};

/// The largest number of writes in a `BatchWriteItem` (DynamoDB API reference).
const BATCH_WRITE: usize = 25;
const BATCHES_AT_ONCE: usize = 8;
/// How often writes that DynamoDB left out of a batch are retried, with growing pauses. It leaves out what exceeds a
/// partition's capacity for the moment.
const TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(50);
pub const GROUP_PAGE: usize = 1000;

#[derive(Deserialize)]
struct Indexed {
    member: UserId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupPage {
    pub users: Vec<UserId>,
    /// The last of them, if there may be more.
    pub more_after: Option<UserId>,
}

impl Ledger {
    /// Adds users to a group. Existing members stay. There is no condition: the last write about a user holds. Fails if
    /// DynamoDB does not answer; some may have been added then.
    pub async fn add_to_group(&self, group: &GroupName, users: &[UserId]) -> Result<(), LedgerError> {
        self.write_all(users, |user| {
            let shard = ("member_shard", text(keys::member_shard(group, keys::shard_of_member(user))));
            let item = item_of([("pk", text(keys::member(group, user))), shard, ("member", text(user.as_str()))]);
            let put = PutRequest::builder().set_item(Some(item)).build().expect(COMPLETE);
            WriteRequest::builder().put_request(put).build()
        })
        .await
    }

    /// Removes users from a group; others are ignored. If DynamoDB does not answer, some may have been removed.
    pub async fn remove_from_group(&self, group: &GroupName, users: &[UserId]) -> Result<(), LedgerError> {
        self.write_all(users, |user| {
            let key = text(keys::member(group, user));
            let delete = DeleteRequest::builder().key("pk", key).build().expect(COMPLETE);
            WriteRequest::builder().delete_request(delete).build()
        })
        .await
    }

    pub async fn groups_of(&self, user: &UserId, groups: &[GroupName]) -> Result<Vec<GroupName>, LedgerError> {
        let pks: Vec<String> = groups.iter().map(|group| keys::member(group, user)).collect();
        let items = self.batch_get(&pks).await?;
        let is_in = |pk: &String| items.iter().any(|item| pk_of(item) == Some(pk));
        Ok(groups.iter().zip(&pks).filter(|(_, pk)| is_in(pk)).map(|(group, _)| group.clone()).collect())
    }

    /// The users of a group after `after` in its list, or from its beginning. May lag a moment behind.
    pub async fn group_page(&self, group: &GroupName, mut after: Option<&UserId>) -> Result<GroupPage, LedgerError> {
        let mut users: Vec<UserId> = Vec::new();
        for shard in after.map_or(0, keys::shard_of_member)..keys::MEMBER_SHARDS {
            let of_shard = (":shard", text(keys::member_shard(group, shard)));
            // Only the first part of the list is begun in the middle.
            let query = match after.take() {
                Some(after) => {
                    let condition = "member_shard = :shard AND #member > :after";
                    let values = [of_shard, (":after", text(after.as_str()))];
                    // `member` alone is a reserved word.
                    self.query(keys::MEMBERS_BY_GROUP, condition, values)
                        .expression_attribute_names("#member", "member")
                }
                None => self.query(keys::MEMBERS_BY_GROUP, "member_shard = :shard", [of_shard]),
            };
            let limit = i32::try_from(GROUP_PAGE - users.len()).unwrap_or(i32::MAX);
            let found = query.limit(limit).answer().await?;
            for item in found.items.unwrap_or_default() {
                users.push(from_item::<Indexed>(item)?.member);
            }
            let has_more = found.last_evaluated_key.is_some();
            if has_more || users.len() >= GROUP_PAGE {
                let is_last = !has_more && shard + 1 == keys::MEMBER_SHARDS;
                let more_after = users.last().filter(|_| !is_last).cloned();
                return Ok(GroupPage { users, more_after });
            }
        }
        Ok(GroupPage { users, more_after: None })
    }

    /// Makes a write for each user, without duplicates: DynamoDB refuses a batch that names a key twice.
    async fn write_all(&self, users: &[UserId], write: impl Fn(&UserId) -> WriteRequest) -> Result<(), LedgerError> {
        let users: HashSet<&UserId> = users.iter().collect();
        let writes: Vec<WriteRequest> = users.into_iter().map(write).collect();
        let batches: Vec<_> =
            writes.chunks(BATCH_WRITE).map(|batch| self.write_batch(batch.to_vec()).boxed()).collect();
        stream::iter(batches).buffer_unordered(BATCHES_AT_ONCE).try_collect().await
    }

    async fn write_batch(&self, mut writes: Vec<WriteRequest>) -> Result<(), LedgerError> {
        for tries in 1..=TRIES {
            let output = self.client.batch_write_item().request_items(&self.table, writes).answer().await?;
            writes = output.unprocessed_items.unwrap_or_default().into_values().flatten().collect();
            if writes.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(PAUSE * tries).await;
        }
        Err(LedgerError::Contended(format!("DynamoDB left out {} of a batch again and again", writes.len())))
    }
}

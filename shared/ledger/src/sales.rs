use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{Put, ReturnValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem};
use sale::{EpochMs, Recurrence, RoundNumber, Sale, SaleId, SaleState, Terms};
use serde::{Deserialize, Serialize};

use crate::conflict::retry_conflicts;
use crate::item::{Item, number, text, to_item};
use crate::rounds::RoundItem;
use crate::{Ledger, LedgerError, keys};

/// Pages of published sales that one call walks: the rest waits for the next minute.
const MAX_SALES_PAGES: usize = 10;

/// What became of a sale that was to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// It is written, as a draft.
    Now(Sale),
    /// It was there before, with the same terms.
    Before(Sale),
    /// Another sale has this id.
    Other(Sale),
}

/// What became of a sale that was to be published.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one for each request of an operator")]
pub enum Published {
    /// It is published, now or since an earlier run.
    Yes(Sale),
    /// There is no such sale.
    Unknown,
}

/// What became of a change to a sale.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "likewise")]
pub enum Amend<R> {
    /// It is made, now or by an earlier run of the same request: the sale as it is.
    Made(Sale),
    /// The sale as it is does not allow it.
    Refused(R),
    /// There is no such sale.
    Unknown,
    /// The key named another request before; nothing was written. Schedules, whose keys say all, never see it.
    KeyReused,
}

/// A request of an operator to change a sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeringRequest {
    /// Names the request: printable ASCII without spaces.
    pub key: String,
    /// What kind of change it is, in one word.
    pub action: &'static str,
    /// The round that it is about and what else it says, so that another request under the same key is told apart.
    pub parameters: String,
}

impl SteeringRequest {
    /// What the sale remembers: it begins with the key and a space, which the key of a schedule has not.
    fn remembered(&self) -> String {
        format!("{} {} {}", self.key, self.action, self.parameters)
    }

    /// What the sale's memory says of the key: the same request, another one, or nothing.
    fn seen_in(&self, requests: &[String]) -> Seen {
        let (remembered, of_key) = (self.remembered(), format!("{} ", self.key));
        // The previous version remembered no more than this of a request.
        let before = format!("{}-{}", self.action, self.key);
        if requests.iter().any(|seen| *seen == remembered || *seen == before) {
            Seen::Same
        } else if requests.iter().any(|seen| seen.starts_with(&of_key)) {
            Seen::Another
        } else {
            Seen::No
        }
    }
}

enum Seen {
    No,
    Same,
    Another,
}

/// Requests that a sale remembers, so that a repeated one changes nothing.
pub const MAX_REQUESTS: usize = 50;
/// Tries to change a sale while others change it too.
const AMEND_TRIES: usize = 5;

#[derive(Serialize, Deserialize)]
struct SaleItem {
    pk: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sale_list: Option<String>,
    #[serde(flatten)]
    sale: Sale,
}

fn sale_from(item: Item) -> Result<Sale, LedgerError> {
    Ok(serde_dynamo::from_item::<_, SaleItem>(item)?.sale)
}

impl Ledger {
    /// The sale of this id. Reads what was last written.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn sale(&self, id: &SaleId) -> Result<Option<Sale>, LedgerError> {
        let output = self
            .client
            .get_item()
            .table_name(&self.table)
            .key("pk", text(keys::sale(id)))
            .consistent_read(true)
            .send()
            .await
            .map_err(LedgerError::of("GetItem"))?;
        output.item.map(sale_from).transpose()
    }

    /// Writes a new sale as a draft, on the condition that its id is free.
    ///
    /// # Errors
    /// If DynamoDB does not answer. Can be repeated.
    pub async fn create_sale(
        &self,
        id: &SaleId,
        terms: &Terms,
        recurrence: Option<&Recurrence>,
    ) -> Result<Created, LedgerError> {
        let sale = Sale {
            id: id.clone(),
            state: SaleState::Draft,
            round: RoundNumber(1),
            version: 1,
            paused: false,
            isolated_requests_per_s: None,
            recurrence: recurrence.cloned(),
            requests: Vec::new(),
            terms: terms.clone(),
            regular_terms: None,
        };
        let item = SaleItem { pk: keys::sale(id), sale_list: None, sale: sale.clone() };
        let result = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(to_item(item)?))
            .condition_expression("attribute_not_exists(pk)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match result.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(Created::Now(sale)),
            Err(PutItemError::ConditionalCheckFailedException(failed)) => {
                let seen = sale_from(failed.item.unwrap_or_default())?;
                Ok(if seen.terms == *terms && seen.recurrence.as_ref() == recurrence {
                    Created::Before(seen)
                } else {
                    Created::Other(seen)
                })
            }
            Err(other) => Err(LedgerError::DynamoDb { call: "PutItem", source: Box::new(other) }),
        }
    }

    /// Publishes a draft, on the condition that it still is one.
    ///
    /// # Errors
    /// If DynamoDB does not answer. Can be repeated.
    pub async fn publish_sale(&self, id: &SaleId) -> Result<Published, LedgerError> {
        let result = self
            .client
            .update_item()
            .table_name(&self.table)
            .key("pk", text(keys::sale(id)))
            .update_expression("SET #state = :published, sale_list = :list ADD version :one")
            .condition_expression("#state = :draft")
            .expression_attribute_names("#state", "state")
            .expression_attribute_values(":draft", text("draft"))
            .expression_attribute_values(":published", text("published"))
            .expression_attribute_values(":list", text(keys::PUBLISHED))
            .expression_attribute_values(":one", number(1))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match result.map_err(SdkError::into_service_error) {
            Ok(output) => Ok(Published::Yes(sale_from(output.attributes.unwrap_or_default())?)),
            Err(UpdateItemError::ConditionalCheckFailedException(failed)) => match failed.item {
                Some(item) if !item.is_empty() => Ok(Published::Yes(sale_from(item)?)),
                _ => Ok(Published::Unknown),
            },
            Err(other) => Err(LedgerError::DynamoDb { call: "UpdateItem", source: Box::new(other) }),
        }
    }

    /// Changes a sale, on the condition that it is as it was read. A request whose key the sale remembers changes nothing.
    ///
    /// Guards against: two operators at once (each reads what the other wrote); a request that is sent again after its
    /// answer was lost, and after another one came in between.
    ///
    /// # Errors
    /// If DynamoDB does not answer, or others change the sale all the time. Can be repeated with the same key.
    pub async fn amend_sale<R>(
        &self,
        id: &SaleId,
        request: &str,
        change: impl Fn(&mut Sale) -> Result<(), R>,
    ) -> Result<Amend<R>, LedgerError> {
        let seen_in =
            |requests: &[String]| if requests.iter().any(|seen| seen == request) { Seen::Same } else { Seen::No };
        self.amend(id, request.to_owned(), seen_in, change).await
    }

    /// Likewise for an operator's request: one whose key named another request is refused.
    ///
    /// `change` sees the sale that is replaced, so what it checks (the round above all) still holds when it is written: a
    /// change in between, such as the next round's beginning, makes it look again.
    ///
    /// # Errors
    /// As [`Self::amend_sale`].
    pub async fn steer_sale<R>(
        &self,
        id: &SaleId,
        request: &SteeringRequest,
        change: impl Fn(&mut Sale) -> Result<(), R>,
    ) -> Result<Amend<R>, LedgerError> {
        self.amend(id, request.remembered(), |requests| request.seen_in(requests), change).await
    }

    async fn amend<R>(
        &self,
        id: &SaleId,
        request: String,
        seen_in: impl Fn(&[String]) -> Seen,
        change: impl Fn(&mut Sale) -> Result<(), R>,
    ) -> Result<Amend<R>, LedgerError> {
        for _ in 0..AMEND_TRIES {
            let Some(read) = self.sale(id).await? else { return Ok(Amend::Unknown) };
            match seen_in(&read.requests) {
                Seen::Same => return Ok(Amend::Made(read)),
                Seen::Another => return Ok(Amend::KeyReused),
                Seen::No => {}
            }
            let mut sale = read.clone();
            if let Err(refusal) = change(&mut sale) {
                return Ok(Amend::Refused(refusal));
            }
            sale.version = read.version + 1;
            sale.requests.push(request.clone());
            let forgotten = sale.requests.len().saturating_sub(MAX_REQUESTS);
            sale.requests.drain(..forgotten);
            let replaced = if sale.round == read.round {
                self.replace_sale(&sale, read.version).await?
            } else {
                self.begin_round(&sale, &read).await?
            };
            if replaced {
                return Ok(Amend::Made(sale));
            }
        }
        Err(LedgerError::Contradiction(format!("sale {id} is changed by others all the time")))
    }

    /// Replaces the sale as it was read, and keeps what the round that it was in offered, both or none.
    async fn begin_round(&self, sale: &Sale, read: &Sale) -> Result<bool, LedgerError> {
        let sale_list = (sale.state == SaleState::Published).then(|| keys::PUBLISHED.to_owned());
        let item = SaleItem { pk: keys::sale(&sale.id), sale_list, sale: sale.clone() };
        let replace = Put::builder()
            .table_name(&self.table)
            .set_item(Some(to_item(item)?))
            .condition_expression("version = :version")
            .expression_attribute_values(":version", number(read.version))
            .build();
        // Only who replaces the sale comes to this, so it is there already for nobody.
        let keep = Put::builder().table_name(&self.table).set_item(Some(to_item(RoundItem::of(read))?)).build();
        let put = |put: Put| TransactWriteItem::builder().set_put(Some(put)).build();
        let writes = [replace, keep].map(|built| built.map(put));
        let writes = writes.into_iter().collect::<Result<_, _>>();
        let writes = writes.map_err(|error| LedgerError::of_input("TransactWriteItems", error))?;
        Ok(self.transact(writes).await?.is_none())
    }

    async fn replace_sale(&self, sale: &Sale, version: u32) -> Result<bool, LedgerError> {
        let listed = sale.state == SaleState::Published;
        let sale_list = listed.then(|| keys::PUBLISHED.to_owned());
        let item = SaleItem { pk: keys::sale(&sale.id), sale_list, sale: sale.clone() };
        let put = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(to_item(item)?))
            .condition_expression("version = :version")
            .expression_attribute_values(":version", number(version));
        let result = retry_conflicts(|| put.clone().send()).await;
        match result.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(true),
            Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(false),
            Err(other) => Err(LedgerError::DynamoDb { call: "PutItem", source: Box::new(other) }),
        }
    }

    /// Published sales that close after `now`, the first to close first. May lag a moment behind.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn published_sales(&self, now: EpochMs) -> Result<Vec<Sale>, LedgerError> {
        let mut sales = Vec::new();
        let mut start = None;
        for _ in 0..MAX_SALES_PAGES {
            let output = self
                .client
                .query()
                .table_name(&self.table)
                .index_name(keys::SALES_BY_CLOSE)
                .key_condition_expression("sale_list = :list AND closes_at_ms > :now")
                .expression_attribute_values(":list", text(keys::PUBLISHED))
                .expression_attribute_values(":now", number(now.0))
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(LedgerError::of("Query"))?;
            for item in output.items.unwrap_or_default() {
                // One sale that cannot be read must not keep the others from being sold.
                match sale_from(item) {
                    Ok(sale) => sales.push(sale),
                    Err(error) => tracing::error!(error = &error as &dyn std::error::Error, "a sale is left out"),
                }
            }
            start = output.last_evaluated_key;
            if start.is_none() {
                break;
            }
        }
        Ok(sales)
    }
}

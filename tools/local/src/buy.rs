//! Makes one purchase step by step, with explanations.

use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use sale::{Price, SaleId, UserId};
use serde_json::Value;
use uuid::Uuid;

use crate::client::Answer;
use crate::running::api;
use crate::sales::{Obstacle, ensure_no_line, obstacle};
use crate::up::pages;

/// Buys a unit of a sale for a user of the running cloud, only through the HTTP API, and explains each step. Fails if
/// nothing is running, or there is no unit for this user.
pub async fn buy(user: &UserId, sale: &SaleId) -> Result<()> {
    let (user, sale) = (user.as_str(), sale.as_str());
    let (client, deployment, issuer) = api()?;
    let client = client.patient();
    let page = client.sale(sale).await?;
    let (shop, operators) = pages(sale)?;
    ensure_no_line(&page, "`./flash buy`", &format!("buy on the shop's page, {shop}"))?;
    let obstacle = || obstacle(&page, jiff::Timestamp::now()).map(|obstacle| obstacle.told(sale, &operators));
    if let Some(told) = obstacle() {
        bail!("{told}");
    }
    let refused = |code: &str| {
        // The page may be a little older than the answer.
        let told = match code {
            "paused" => Some(Obstacle::Paused.told(sale, &operators)),
            "not_open" => obstacle().or_else(|| Some(format!("{sale} opens at {}", text(&page["opens_at"])))),
            _ => None,
        };
        told.map_or_else(|| refused(code, user, sale), |told| anyhow!("{told}"))
    };
    let [title, state, availability] = ["title", "state", "availability"].map(|name| text(&page[name]));
    println!("{title} ({sale}): the sale is {state}, units: {availability}.\n");

    let token = issuer.token(user)?;
    println!("1. {user} signs in");
    explain("This machine's issuer signs a token. The gateway checks it on every request.");

    let started = Instant::now();
    let work = client.answer_challenge(&token, sale).await.map_err(|code| refused(&code.to_string()))?;
    println!("2. POST /v1/sales/{sale}/challenges {{\"kind\": \"work\"}}");
    let [challenge, answer] = ["challenge_id", "answer"].map(|name| text(&work[name]));
    explain(&format!(
        "The gate gives a challenge, {challenge}. A person would add two numbers in a picture; this program does work \
         instead: it tried numbers for {:.1} s until the hash of one of them, {answer}, began with {} zero bits.",
        started.elapsed().as_secs_f64(),
        sale::USUAL_WORK_BITS,
    ));

    let pass = client.admit(&token, sale, &work).await.map_err(|code| refused(&code.to_string()))?;
    println!("3. POST /v1/sales/{sale}/tokens");
    let gets = format!("The answer is right, so {user} gets a pass");
    explain(&format!("{gets}. Nobody else can use it, and it is valid for five minutes: {pass}"));

    let id = match client.reserve(&token, sale, &pass, &Uuid::new_v4().to_string()).await {
        Answer::Reserved(id) => id,
        Answer::Problem(code) => return Err(refused(&code)),
        Answer::Error(error) => return Err(anyhow!("no answer to the reservation: {error}")),
    };
    let reserved = Instant::now();
    println!("4. POST /v1/sales/{sale}/reservations/{{pass}}");
    explain(&format!(
        "202: one call to Redis has taken a unit, and the order queue has the reservation, {id}. The request had an \
         Idempotency-Key: sent again, it would get the same reservation and no second unit."
    ));

    let order = client.ordered(&token, &id).await?;
    println!("5. GET /v1/reservations/{id}");
    let (after_s, unit) = (reserved.elapsed().as_secs_f64(), &order["unit"]);
    let written = format!("After {after_s:.1} s the order function has written the order: unit {unit}");
    if order["status"] == "granted" {
        let is_final = "the order is final, and can neither be cancelled nor expire";
        explain(&format!("{written}{}. Nobody pays in this sale: {is_final}.", won(&order["award"])));
        println!("What each function did for the reservation: ./flash trace {id}");
        return Ok(());
    }
    let (price, pay_by) = (money(&order["price_minor"], &order["currency"]), text(&order["pay_by"]));
    explain(&format!("{written}, {price}, to be paid by {pay_by}. Otherwise the unit goes back on sale."));

    let price: Price = serde_json::from_value(order)?;
    let (key, payment) = (deployment.payment_key().await?, format!("pay-{}", Uuid::new_v4().simple()));
    let outcome = client.tell_of_payment(&key, &payment, &id, price).await?;
    println!("6. POST /v1/payments/webhook");
    explain(&format!(
        "This program stands in for the payment provider: its callback reports payment {payment}, signed with the secret \
         that both share. The answer is {outcome:?}."
    ));

    let status = client.status(&token, &id).await?;
    println!("7. GET /v1/reservations/{id}");
    explain(&format!("The order is {status}."));
    println!("What each function did for the reservation: ./flash trace {id}");
    Ok(())
}

fn explain(step: &str) {
    println!("   {step}\n");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn money(minor: &Value, currency: &Value) -> String {
    format!("{:.2} {}", minor.as_u64().unwrap_or_default() as f64 / 100.0, text(currency))
}

/// Describes what a unit won, if it can have won something.
fn won(award: &Value) -> String {
    match text(&award["kind"]) {
        "amount" => format!(", which won {}", money(&award["amount_minor"], &award["currency"])),
        "prize" => format!(", which won {}", text(&award["prize"])),
        "blank" => ", which won nothing".to_owned(),
        _ => String::new(),
    }
}

fn refused(code: &str, user: &str, sale: &str) -> anyhow::Error {
    match code {
        "sold_out" => anyhow!("{sale} is sold out; units that are cancelled or not paid for are sold again"),
        "limit_reached" => anyhow!("{user} has reached the limit for one person in {sale}; try another USER_ID"),
        "unpaid_limit" => anyhow!("{user} has left too many units of {sale} unpaid; try another USER_ID"),
        "closed" => anyhow!("{sale} is over"),
        "overloaded" => anyhow!("the API is busy; try again in a while"),
        "blocked" => anyhow!("{user} is blocked for a while; try another USER_ID"),
        _ => anyhow!("the API refused: {code}"),
    }
}

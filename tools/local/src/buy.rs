//! Makes one purchase step by step, with explanations.

use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use sale::{Price, SaleId, UserId};
use serde_json::Value;
use uuid::Uuid;

use crate::client::{Answer, Payment};
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
    println!(
        "{} ({sale}): the sale is {}, units: {}.\n",
        text(&page["title"]),
        text(&page["state"]),
        text(&page["availability"])
    );

    let token = issuer.token(user)?;
    step(
        1,
        &format!("{user} signs in"),
        "This machine's issuer signs a token. The gateway checks it on every request.",
    );

    let started = Instant::now();
    let work = client.answer_challenge(&token, sale).await.map_err(|code| refused(&code.to_string()))?;
    step(
        2,
        &format!("POST /v1/sales/{sale}/challenges {{\"kind\": \"work\"}}"),
        &format!(
            "The gate gives a challenge, {}. A person would add two numbers in a picture; this program does work instead: \
             it tried numbers for {:.1} s until the hash of one of them, {}, began with {} zero bits.",
            text(&work["challenge_id"]),
            started.elapsed().as_secs_f64(),
            text(&work["answer"]),
            sale::USUAL_WORK_BITS,
        ),
    );

    let pass = client.admit(&token, sale, &work).await.map_err(|code| refused(&code.to_string()))?;
    step(
        3,
        &format!("POST /v1/sales/{sale}/tokens"),
        &format!(
            "The answer is right, so {user} gets a pass. Nobody else can use it, and it is valid for five minutes: {pass}"
        ),
    );

    let id = match client.reserve(&token, sale, &pass, &Uuid::new_v4().to_string()).await {
        Answer::Reserved(id) => id,
        Answer::Problem(code) => return Err(refused(&code)),
        Answer::Error(error) => return Err(anyhow!("no answer to the reservation: {error}")),
    };
    let reserved = Instant::now();
    step(
        4,
        &format!("POST /v1/sales/{sale}/reservations/{{pass}}"),
        &format!(
            "202: one call to Redis has taken a unit, and the order queue has the reservation, {id}. The request had an \
             Idempotency-Key: sent again, it would get the same reservation and no second unit."
        ),
    );

    let order = client.ordered(&token, &id).await?;
    if order["status"] == "granted" {
        step(
            5,
            &format!("GET /v1/reservations/{id}"),
            &format!(
                "After {:.1} s the order function has written the order: unit {}{}. Nobody pays in this sale: the order is \
                 final, and can neither be cancelled nor expire.",
                reserved.elapsed().as_secs_f64(),
                order["unit"],
                won(&order["award"]),
            ),
        );
        println!("What each function did for the reservation: ./flash trace {id}");
        return Ok(());
    }
    step(
        5,
        &format!("GET /v1/reservations/{id}"),
        &format!(
            "After {:.1} s the order function has written the order: unit {}, {:.2} {}, to be paid by {}. Otherwise the unit \
             goes back on sale.",
            reserved.elapsed().as_secs_f64(),
            order["unit"],
            order["price_minor"].as_u64().unwrap_or_default() as f64 / 100.0,
            text(&order["currency"]),
            text(&order["pay_by"]),
        ),
    );

    let price: Price = serde_json::from_value(order)?;
    let payment = Payment { id: format!("pay-{}", Uuid::new_v4().simple()), reservation_id: id.clone(), price };
    let outcome = client.tell_of_payment(&deployment.payment_key().await?, &payment).await?;
    step(
        6,
        "POST /v1/payments/webhook",
        &format!(
            "This program stands in for the payment provider: its callback reports payment {}, signed with the secret that \
             both share. The answer is {outcome:?}.",
            payment.id
        ),
    );

    let status = client.status(&token, &id).await?;
    step(7, &format!("GET /v1/reservations/{id}"), &format!("The order is {status}."));
    println!("What each function did for the reservation: ./flash trace {id}");
    Ok(())
}

fn step(number: u8, what: &str, so: &str) {
    println!("{number}. {what}\n   {so}\n");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Describes what a unit won, if it can have won something.
fn won(award: &Value) -> String {
    match text(&award["kind"]) {
        "amount" => {
            let amount = award["amount_minor"].as_u64().unwrap_or_default() as f64 / 100.0;
            format!(", which won {amount:.2} {}", text(&award["currency"]))
        }
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

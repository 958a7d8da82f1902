//! A process is ready before its first request: it has read what that needs, and connected.

use stock::Stock;
use tests::{Conduct, FaultyAws, Service, terms};

use crate::cloud::cloud;
use crate::lab::Lab;
use crate::lambda_modes::Served;
use crate::wait::until;

/// What the emulator is asked for by its `x-amz-target`.
const SECRET: &str = "secretsmanager.GetSecretValue";
const SALES: &str = "DynamoDB_20120810.Query";

#[tokio::test]
async fn the_first_request_finds_secrets_and_sales_read() {
    let lab = Lab::selling(terms(2, 2)).await;
    let aws = FaultyAws::start(&cloud().await.deployment.endpoint).await;
    let served = Served::start(&lab, &aws, 1).await;
    // Nobody has asked for anything, and each is read.
    aws.done(SECRET, 1).await;
    aws.done(SALES, 1).await;
    // A first request that read them itself would not be answered now.
    aws.set(Service::SecretsManager, Conduct::Hangs);
    assert_eq!(served.reserve("early").await, 202);
}

#[tokio::test]
async fn a_process_starts_although_nothing_can_be_read_yet() {
    let lab = Lab::selling(terms(2, 2)).await;
    let aws = FaultyAws::start(&cloud().await.deployment.endpoint).await;
    aws.set(Service::SecretsManager, Conduct::Fails);
    let served = Served::start(&lab, &aws, 1).await;
    assert_eq!(served.reserve("early").await, 503);
    aws.set(Service::SecretsManager, Conduct::Answers);
    until("the secret is read by a request", 60, async || (served.reserve("later").await == 202).then_some(())).await;
}

#[tokio::test]
async fn redis_is_connected_to_or_the_reason_why_not_is_known() {
    let lab = Lab::selling(terms(1, 1)).await;
    Stock::new(&lab.valkey.url()).unwrap().connect().await.unwrap();
    // A port that nobody listens on.
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert!(Stock::new(&format!("redis://{gone}")).unwrap().connect().await.is_err());
}

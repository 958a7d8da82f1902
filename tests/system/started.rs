//! A process is ready before its first request: it has read what requests need, and connected.

use crate::lambda_modes::Served;
use crate::prelude::*;

/// `x-amz-target` values of requests to the emulator.
const SECRET: &str = "secretsmanager.GetSecretValue";
const SALES: &str = "DynamoDB_20120810.Query";

/// A busy machine may exceed a limit of the function, so several processes may try.
#[tokio::test]
async fn the_first_request_finds_secrets_and_sales_read() {
    const TRIES: u32 = 5;
    let lab = Lab::selling(terms(TRIES, 1)).await;
    for number in 0..TRIES {
        let aws = FaultyAws::start(&cloud().await.deployment.endpoint).await;
        let served = Served::start(&lab, &aws, 1).await;
        // Each has been read without any request.
        aws.done(SECRET, 1).await;
        aws.done(SALES, 1).await;
        // A first request that read them itself would hang now.
        aws.set(Service::SecretsManager, Conduct::Hangs);
        match served.reserve(&format!("early-{number}")).await {
            202 => return,
            status => assert_eq!(status, 503),
        }
    }
    panic!("{TRIES} first requests were not answered in time");
}

#[tokio::test]
async fn redis_is_connected_to_or_the_reason_why_not_is_known() {
    let lab = Lab::new().await;
    Stock::new(&lab.valkey.url()).unwrap().connect().await.unwrap();
    // A port where nothing listens.
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert!(Stock::new(&format!("redis://{gone}")).unwrap().connect().await.is_err());
}

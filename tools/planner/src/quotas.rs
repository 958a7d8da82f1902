//! AWS's quotas, and measured limits, each with its source.

use serde::Serialize;

/// A number that we cannot choose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quota {
    pub value: f64,
    pub page: &'static str,
}

const fn quota(value: f64, page: &'static str) -> Quota {
    Quota { value, page }
}

/// Requests a second of all APIs of an account in a region. 2,500 in newer regions, none of which has prices here.
pub const GATEWAY_REQUESTS: Quota = quota(10_000.0, "Amazon API Gateway quotas");
/// The capacity of the gateway's token bucket beyond that.
pub const GATEWAY_BURST: Quota = quota(5_000.0, "Amazon API Gateway quotas");
/// New WebSocket connections a second of an account in a region.
pub const WEBSOCKET_CONNECTIONS: Quota = quota(500.0, "Quotas for configuring and running a WebSocket in API Gateway");
/// Concurrent executions of an account in a region. New accounts have fewer.
pub const LAMBDA_CONCURRENCY: Quota = quota(1_000.0, "Lambda quotas");
/// What that can be raised to: "tens of thousands".
pub const LAMBDA_CONCURRENCY_MOST: Quota = quota(30_000.0, "Lambda quotas");
/// Environments that a function gains in ten seconds.
pub const LAMBDA_SCALING_PER_10_S: Quota = quota(1_000.0, "Lambda scaling behavior");
/// Requests a second that each concurrent execution of the quota allows, however short they are.
pub const LAMBDA_REQUESTS_PER_CONCURRENCY: Quota = quota(10.0, "Understanding Lambda function scaling");
/// Requests that an environment of a Lambda Managed Instance may have at once, for each of its processors.
pub const MANAGED_CONCURRENCY: Quota = quota(64.0, "Scaling Lambda Managed Instances");
/// Environments that Managed Instances start with.
pub const MANAGED_ENVIRONMENTS_LEAST: Quota = quota(3.0, "Scaling Lambda Managed Instances");
/// Requests a second of a distribution.
pub const EDGE_REQUESTS: Quota = quota(250_000.0, "Amazon CloudFront quotas");
/// Connections of a node.
pub const REDIS_CONNECTIONS: Quota = quota(65_000.0, "ElastiCache: large number of connections");
/// Write units a second that a new on-demand table, and each of its indexes, handles from the start.
pub const TABLE_WARM_WRITES: Quota = quota(4_000.0, "Understanding DynamoDB warm throughput in different scenarios");
/// Write units a second of a table, unless it was raised.
pub const TABLE_WRITES_MOST: Quota = quota(40_000.0, "Quotas in Amazon DynamoDB");
/// Write units a second of a partition.
pub const PARTITION_WRITES: Quota = quota(1_000.0, "Understanding DynamoDB warm throughput in different scenarios");
/// Read units a second of a partition.
pub const PARTITION_READS: Quota = quota(3_000.0, "Understanding DynamoDB warm throughput in different scenarios");
/// Secrets that an account reads in a second.
pub const SECRET_READS: Quota = quota(10_000.0, "AWS Secrets Manager quotas");
/// People who sign in at a Cognito user pool in a second.
pub const COGNITO_SIGN_INS: Quota = quota(120.0, "Quotas in Amazon Cognito");
/// Messages in flight in a standard queue.
pub const QUEUE_IN_FLIGHT: Quota = quota(120_000.0, "Amazon SQS message quotas");
/// Concurrent batches of a queue that Lambda handles.
pub const QUEUE_CONSUMERS_MOST: Quota = quota(1_000.0, "Configuring scaling behavior for SQS event source mappings");

/// The most that AWS is assumed to raise a quota, as a multiple of its default. AWS decides case by case; a plan that
/// needs more would rest on luck.
pub const RAISED_AT_MOST: f64 = 10.0;

/// Script calls that one shard answers in a second. **Not measured on ElastiCache.** On this project's machine one
/// Valkey answers about 80,000 trivial EVALs a second; a production node has slower cores and TLS.
pub const SCRIPTS_PER_S_PER_SHARD: f64 = 30_000.0;
/// Requests a second of one processor in a process with many concurrent requests: about half of what each of two
/// cores did, beside everything else, in the benchmark of the reservation function that asks Redis (docs/performance.md).
pub const MANAGED_REQUESTS_PER_S_PER_CPU: f64 = 4_000.0;

/// Seconds of each function for a request. **Assumed**: in-region calls of a millisecond to Redis and a few to SQS.
pub const ADMISSION_S: f64 = 0.030;
/// See [`ADMISSION_S`].
pub const RESERVATION_S: f64 = 0.025;
/// See [`ADMISSION_S`]. Almost always from the process's memory.
pub const CATALOG_S: f64 = 0.010;
/// See [`ADMISSION_S`]. For a ticket.
pub const TICKET_S: f64 = 0.010;
/// Seconds for a batch of ten concurrent orders. **Assumed**: a transaction, a script and a message for each.
pub const ORDER_BATCH_S: f64 = 0.200;
/// Seconds of any other function for one event. **Assumed.**
pub const OTHER_S: f64 = 0.050;
/// Regional edge caches, each of which asks the gateway for a card. **Assumed.**
pub const EDGE_CACHES: f64 = 15.0;
/// Orders that a run of reconciliation reads: some hundred thousand (docs/reasons.md, "Deliberately absent").
pub const AUDITED_ORDERS: f64 = 300_000.0;
/// The fraction of the edge's quota that polls of the line may use. With more people in line pages poll less often.
pub const LINE_POLLS_OF_EDGE: f64 = 0.5;
/// Seconds between two polls of the line's document before the opening. **Assumed.**
pub const LINE_POLL_EARLY_S: f64 = 30.0;
/// Bytes of Redis for one reservation, and for one person at the gate: a challenge and the rates. **Assumed**, on the
/// high side of the first draft's measured 211.
pub const REDIS_BYTES_EACH: f64 = 500.0;
/// Share of a node's memory that data may use: a quarter is reserved.
pub const REDIS_USABLE: f64 = 0.75;

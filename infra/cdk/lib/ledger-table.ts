import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { MessageQueue } from './message-queue.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

const text = (name: string): dynamodb.Attribute => ({ name, type: dynamodb.AttributeType.STRING });
const number = (name: string): dynamodb.Attribute => ({ name, type: dynamodb.AttributeType.NUMBER });
const { ALL, KEYS_ONLY } = dynamodb.ProjectionType;

/** Each is sparse: only items that carry both attributes are in it. */
const INDEXES = {
  orders_by_user: { partitionKey: text('orders_of'), sortKey: number('created_at_ms'), projectionType: ALL },
  pending_by_pay_by: { partitionKey: text('pending_shard'), sortKey: number('pay_by_ms'), projectionType: KEYS_ONLY },
  guards_by_round: { partitionKey: text('round_shard'), sortKey: number('unit'), projectionType: ALL },
  sales_by_close: { partitionKey: text('sale_list'), sortKey: number('closes_at_ms'), projectionType: ALL },
  denied_by_end: { partitionKey: text('denied_list'), sortKey: number('until_ms'), projectionType: ALL },
  campaigns_by_id: { partitionKey: text('campaign_list'), sortKey: text('campaign_id'), projectionType: ALL },
  connections_by_user: {
    partitionKey: text('connections_of'),
    sortKey: number('connected_at_ms'),
    projectionType: KEYS_ONLY,
  },
} as const;

export type IndexName = keyof typeof INDEXES;
/** What Lambda reads a stream with, as the role of the function that it feeds. */
const READ_STREAM = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];
const FEED_BATCH = 100;
/** Whoever waits for news looks for it after a while, so old news is not worth a waiting shard. */
const FEED_TRIES_AGAIN = 3;
const FEED_MAX_AGE = Duration.seconds(60);

export type ItemAction = 'BatchGetItem' | 'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem';

/** The ledger: sales, orders and guards in one table. */
export class LedgerTable extends Construct {
  readonly name: string;
  private readonly table: dynamodb.Table;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: text('pk'),
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: 'expires_at',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: settings.keepData,
      removalPolicy: settings.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    for (const [indexName, keys] of Object.entries(INDEXES)) this.table.addGlobalSecondaryIndex({ indexName, ...keys });
    this.name = this.table.tableName;
  }

  useFrom(fn: RustFunction, items: ItemAction[], queried: IndexName[] = []): void {
    fn.tell('TABLE_NAME', this.name);
    if (items.length > 0) fn.allow(items.map((action) => `dynamodb:${action}`), [this.table.tableArn]);
    if (queried.length > 0) {
      fn.allow(['dynamodb:Query'], queried.map((index) => `${this.table.tableArn}/index/${index}`));
    }
  }

  /** Tells a function of every write to an order, from the deployment on. What it cannot take is noted in `failures`. */
  feedOrdersTo(fn: RustFunction, failures: MessageQueue): void {
    const stream = this.table.tableStreamArn;
    if (stream === undefined) throw new Error('The table has no stream');
    fn.allow(READ_STREAM.map((action) => `dynamodb:${action}`), [stream]);
    new lambda.EventSourceMapping(this, 'Feed', {
      target: fn.lambda,
      eventSourceArn: stream,
      startingPosition: lambda.StartingPosition.LATEST,
      batchSize: FEED_BATCH,
      parallelizationFactor: 1,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: FEED_TRIES_AGAIN,
      maxRecordAge: FEED_MAX_AGE,
      onFailure: failures.takeFailuresOf(fn),
      filters: [
        lambda.FilterCriteria.filter({
          eventName: ['INSERT', 'MODIFY'],
          dynamodb: { Keys: { pk: { S: lambda.FilterRule.beginsWith('ORDER#') } } },
        }),
      ],
    });
  }
}

import { Duration } from 'aws-cdk-lib';
import { type IMetric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Alarms } from './alarms.ts';
import { graph, type Part, PERIOD, sumOf } from './dashboard.ts';
import type { FunctionName } from './functions.ts';
import { isProtected, kept } from './cdk.ts';
import type { MessageQueue } from './message-queue.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

const text = (name: string): dynamodb.Attribute => ({ name, type: dynamodb.AttributeType.STRING });
const number = (name: string): dynamodb.Attribute => ({ name, type: dynamodb.AttributeType.NUMBER });
const { ALL, INCLUDE, KEYS_ONLY } = dynamodb.ProjectionType;

/** Each is sparse: it only has items with both attributes. */
const INDEXES = {
  orders_by_user: { partitionKey: text('orders_of'), sortKey: number('created_at_ms'), projectionType: ALL },
  pending_by_pay_by: { partitionKey: text('pending_shard'), sortKey: number('pay_by_ms'), projectionType: KEYS_ONLY },
  guards_by_round: { partitionKey: text('round_shard'), sortKey: number('unit'), projectionType: ALL },
  orders_by_round: { partitionKey: text('live_shard'), sortKey: number('unit'), projectionType: INCLUDE, nonKeyAttributes: ['reserved_at_ms'] as string[] },
  orders_by_time: { partitionKey: text('order_shard'), sortKey: number('created_at_ms'), projectionType: KEYS_ONLY },
  refunds_by_time: { partitionKey: text('refund_shard'), sortKey: number('refund_due_at_ms'), projectionType: KEYS_ONLY },
  sales_by_close: { partitionKey: text('sale_list'), sortKey: number('closes_at_ms'), projectionType: INCLUDE, nonKeyAttributes: ['first_opens_at_ms'] as string[] },
  blocked_by_end: { partitionKey: text('blocked_list'), sortKey: number('until_ms'), projectionType: ALL },
  campaigns_by_id: { partitionKey: text('campaign_list'), sortKey: text('campaign_id'), projectionType: ALL },
  members_by_group: { partitionKey: text('member_shard'), sortKey: text('member'), projectionType: KEYS_ONLY },
  connections_by_user: { partitionKey: text('connections_of'), sortKey: number('connected_at_ms'), projectionType: KEYS_ONLY },
} as const;

export type IndexName = keyof typeof INDEXES;
/** What orders write to. An index that does not keep up slows down the table. */
export const WRITTEN_BY_ORDERS: IndexName[] = ['orders_by_user', 'pending_by_pay_by', 'guards_by_round', 'orders_by_round', 'orders_by_time'];
const ITEM_OPERATIONS = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems'];
/** The permissions that Lambda needs to read a stream, on the role of the function behind it. */
const READ_STREAM = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map((action) => `dynamodb:${action}`);
const FEED_BATCH = 100;

/** Which writes of the table a function gets. */
export interface Feed {
  /** The id in the template: another id would be a new feed, and miss what is in between. */
  id: string;
  /** The prefixes of the keys that it gets. */
  items: string[];
  from: lambda.StartingPosition;
  /** Retries after the first attempt. Without a number, until the record is too old. */
  triesAgain?: number;
  maxAge: Duration;
}

/** Waiting buyers poll after a while, so old news is not worth blocking a shard. */
export const NEWS_FOR_BUYERS: Feed = {
  id: 'Feed',
  items: ['ORDER#'],
  from: lambda.StartingPosition.LATEST,
  triesAgain: 3,
  maxAge: Duration.seconds(60),
};

/**
 * None may be missing, so it begins with the oldest record in the stream, and retries for as long as the stream keeps it, minus
 * two hours in which failures can be inspected. Prefixes as in `shared/ledger/src/keys.rs`.
 */
export const FACTS_FOR_MERCHANTS: Feed = {
  id: 'FactsFeed',
  items: ['ORDER#', 'PAYMENT#', 'MILESTONES#'],
  from: lambda.StartingPosition.TRIM_HORIZON,
  maxAge: Duration.hours(22),
};

/** The seeds of draws. Whoever has one knows the winners before the round is over. */
const SEEDS = 'SEED#*';
/** The seeds of lines. Whoever has one knows the order before the sale opens. */
const LINES = 'LINE#*';
/** Which functions do what with them: the line is moved where its order becomes public, and its seed is written with the round. */
const WITH_LINES: { [name in FunctionName]?: ItemAction[] } = {
  waiting_room: ['GetItem', 'UpdateItem'],
  admin: ['PutItem'],
  daily_reset: ['PutItem'],
};
/** Functions that neither draw a seed nor compute an award from one. */
const WITHOUT_SEEDS: FunctionName[] = ['admission', 'waiting_room', 'expiry', 'payment', 'winners', 'websocket', 'notifier'];

export type ItemAction = 'BatchGetItem' | 'BatchWriteItem' | 'ConditionCheckItem' | 'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem';

const onTable = (actions: ItemAction[]): string[] => actions.map((action) => `dynamodb:${action}`);

/** The ledger: sales, orders and guards in one table. */
export class LedgerTable extends Construct {
  readonly name: string;
  private readonly table: dynamodb.Table;

  constructor(scope: Construct, id: string, settings: Settings, alarms: Alarms) {
    super(scope, id);
    const { warmThroughput } = settings.table;
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: text('pk'),
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: 'expires_at',
      warmThroughput,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: isProtected(settings),
      removalPolicy: kept(settings),
    });
    for (const [indexName, keys] of Object.entries(INDEXES)) {
      const byOrders = WRITTEN_BY_ORDERS.includes(indexName as IndexName);
      this.table.addGlobalSecondaryIndex({ indexName, ...keys, warmThroughput: byOrders ? warmThroughput : undefined });
    }
    this.name = this.table.tableName;
    if (settings.emulator === undefined) {
      const throttles = Object.fromEntries(this.throttles().map((metric, index) => [`t${index}`, metric]));
      alarms.ringAt('table-throttled', sumOf(throttles, 'throttled'), 1);
    }
  }

  /** The table's part of the dashboard. */
  part(): Part {
    const shown = { period: PERIOD, statistic: Stats.SUM };
    const { table } = this;
    const latency = (operation: string): IMetric =>
      table.metric('SuccessfulRequestLatency', {
        dimensionsMap: { TableName: this.name, Operation: operation },
        period: PERIOD,
        statistic: 'p99',
        label: operation,
      });
    return ['Ledger', [
      graph('Capacity a minute', [table.metricConsumedReadCapacityUnits(shown), table.metricConsumedWriteCapacityUnits(shown)]),
      graph('Throttled reads and writes', this.throttles()),
      graph('Latency p99, ms', ITEM_OPERATIONS.map(latency)),
    ]];
  }

  private throttles(): IMetric[] {
    const metric = (metricName: string, index?: IndexName): IMetric =>
      this.table.metric(metricName, {
        dimensionsMap: { TableName: this.name, ...(index && { GlobalSecondaryIndexName: index }) },
        period: PERIOD,
        statistic: Stats.SUM,
        label: index ?? metricName,
      });
    const indexes = WRITTEN_BY_ORDERS.map((index) => metric('WriteThrottleEvents', index));
    return [metric('ReadThrottleEvents'), metric('WriteThrottleEvents'), ...indexes];
  }

  useFrom(fn: RustFunction, items: ItemAction[], queried: IndexName[] = []): void {
    fn.tell('TABLE_NAME', this.name);
    if (items.length > 0) {
      // The function that everybody can reach writes only to lines.
      const onLines: ItemAction[] = fn.name === 'waiting_room' ? items.filter((action) => action === 'UpdateItem') : [];
      const anywhere = items.filter((action) => !onLines.includes(action));
      fn.allow(onTable(anywhere), [this.table.tableArn]);
      if (onLines.length > 0) {
        fn.allow(onTable(onLines), [this.table.tableArn], { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [LINES] } });
      }
      if (WITHOUT_SEEDS.includes(fn.name)) this.keepSeedsFrom(fn, items, SEEDS);
      this.keepSeedsFrom(fn, items.filter((action) => !WITH_LINES[fn.name]?.includes(action)), LINES);
    }
    if (queried.length > 0) {
      fn.allow(['dynamodb:Query'], queried.map((index) => `${this.table.tableArn}/index/${index}`));
    }
  }

  private keepSeedsFrom(fn: RustFunction, actions: ItemAction[], seeds: string): void {
    if (actions.length === 0) return;
    fn.deny(onTable(actions), [this.table.tableArn], { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [seeds] } });
  }

  /** Sends a function every write to what `feed` names. Records that it cannot handle go to `failures`. */
  feedTo(fn: RustFunction, feed: Feed, failures: MessageQueue): void {
    const stream = this.table.tableStreamArn;
    if (stream === undefined) throw new Error('The table has no stream');
    fn.allow(READ_STREAM, [stream]);
    new lambda.EventSourceMapping(this, feed.id, {
      target: fn.lambda,
      eventSourceArn: stream,
      startingPosition: feed.from,
      batchSize: FEED_BATCH,
      parallelizationFactor: 1,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: feed.triesAgain,
      maxRecordAge: feed.maxAge,
      onFailure: failures.takeFailuresOf(fn),
      filters: [
        lambda.FilterCriteria.filter({
          eventName: ['INSERT', 'MODIFY'],
          dynamodb: { Keys: { pk: { S: feed.items.flatMap((prefix) => lambda.FilterRule.beginsWith(prefix)) } } },
        }),
      ],
    });
  }
}

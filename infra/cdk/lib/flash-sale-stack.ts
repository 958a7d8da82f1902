import { CfnOutput, Stack } from 'aws-cdk-lib';
import { LambdaApplication } from 'aws-cdk-lib/aws-codedeploy';
import type { Construct } from 'constructs';
import { type AlarmId, Alarms } from './alarms.ts';
import { synthesizerOf } from './cdk.ts';
import { Dashboard } from './dashboard.ts';
import { Edge } from './edge.ts';
import { EdgeStack, needsEdgeStack } from './edge-stack.ts';
import { EventBus } from './event-bus.ts';
import { EveryMinute } from './every-minute.ts';
import { ANSWERING, FUNCTIONS, FUNCTION_NAMES, type FunctionName, OPERATOR_GROUP } from './functions.ts';
import { HttpApi } from './http-api.ts';
import { Identity } from './identity.ts';
import { KeySecret, type KeySecretProps } from './key-secret.ts';
import { FACTS_FOR_MERCHANTS, LedgerTable, NEWS_FOR_BUYERS } from './ledger-table.ts';
import { Page } from './page.ts';
import { PushApi } from './push-api.ts';
import { makeQueues } from './queues.ts';
import { RustFunction } from './rust-function.ts';
import { type Settings, REBUILD_PROCESSES, validated, WEBHOOK_PROCESSES, WINNER_PROCESSES } from './settings.ts';
import { StockRedis } from './stock-redis.ts';
import { watchAudit, watchDoor, watchDraws, watchFunctions, watchPayments } from './watched.ts';

export interface FlashSaleProps {
  settings: Settings;
  /** The folder with a subfolder for each built function. */
  assetRoot: string;
  /** The folder of the built pages, which an edge serves. */
  pages: string;
}

/** A new version is rolled back if one of these rings. */
const STOPS_A_RELEASE = ['gateway-5xx', 'door-failing', 'functions-throttled', 'units-oversold'] as const satisfies AlarmId[];

/** The whole system. The lines about each function say what it may access. */
export class FlashSaleStack extends Stack {
  constructor(scope: Construct, id: string, props: FlashSaleProps) {
    const settings = validated(props.settings);
    super(scope, id, { stackName: settings.name, description: 'Flash sales', tags: settings.tags, synthesizer: synthesizerOf(settings) });

    const alarms = new Alarms(this, 'Alarms', settings);
    const queues = makeQueues(this, settings, alarms);
    const table = new LedgerTable(this, 'Ledger', settings, alarms);
    const redis = new StockRedis(this, 'Stock', settings, alarms);
    const secret = new KeySecret(this, 'PaymentSecret', settings, {
      description: 'Signing key of the payment webhook',
      variable: 'PAYMENT_SECRET_ARN',
      unrotated: 'A new key has to be given to the payment provider, which has no API for that.',
    });
    const ownSecret = (id: string, props: KeySecretProps): Pick<KeySecret, 'arn' | 'readFrom'> =>
      settings.signingSecrets === 'each'
        ? new KeySecret(this, id, settings, props)
        : { arn: secret.arn, readFrom: (fn) => secret.readFrom(fn, props.variable) };
    const winnerSecret = ownSecret('WinnerSecret', {
      description: 'Signing key of notifications of winners',
      variable: 'WINNER_SECRET_ARN',
      unrotated: 'The gift service has to be given a new key, and has no API for that.',
    });
    const webhookSecret = ownSecret('WebhookSecret', {
      description: "Signing key of events that are sent to the merchant's address",
      variable: 'WEBHOOK_SECRET_ARN',
      unrotated: "The merchant's system has to be given a new key, and has no API for that.",
    });
    const passes = new KeySecret(this, 'PassSecret', settings, {
      description: 'Keys that seal passes into a sale',
      variable: 'PASS_SECRET_ARN',
      unrotated: 'A rotation adds a key, and removes the old one when its last pass has expired. AWS would replace it at once.',
      // One key signs, all of them open.
      json: { secretStringTemplate: JSON.stringify({ signing: 1 }), generateStringKey: 'key1' },
    });
    const identity = new Identity(this, 'Identity', settings);

    // Polling an empty queue costs as much as a scheduled function. In a deployment whose data may be deleted, queues that
    // nothing is sent to are not polled.
    const isPolled = (receiver: string | undefined): boolean =>
      receiver !== undefined || settings.keepData || settings.emulator !== undefined;
    // The compiler does not see one that is not made; the output of its role, below, then stops the synthesis.
    const functions = {} as Record<FunctionName, RustFunction>;
    const make = (name: FunctionName, feedsItself = false): RustFunction => {
      const inside = FUNCTIONS[name].redis;
      const network = inside ? redis.network : undefined;
      const fn = new RustFunction(this, name, { settings, assetRoot: props.assetRoot, network, feedsItself });
      if (inside) redis.useFrom(fn);
      functions[name] = fn;
      return fn;
    };

    const reservation = make('reservation');
    table.useFrom(
      reservation,
      ['BatchGetItem', 'ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'],
      ['orders_by_user', 'sales_by_close', 'campaigns_by_id'],
    );
    queues.orders.sendFrom(reservation);
    queues.expiry.sendFrom(reservation);
    queues.rebuilds.sendFrom(reservation);
    passes.readFrom(reservation);

    const admission = make('admission');
    table.useFrom(admission, ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'], ['sales_by_close']);
    queues.rebuilds.sendFrom(admission);
    passes.readFrom(admission);
    // Only the issuer controls these claims, which groups need as well.
    admission.tell('GROUP_CLAIM', settings.operatorClaims.join(','));

    const waitingRoom = make('waiting_room');
    table.useFrom(waitingRoom, ['BatchGetItem', 'GetItem', 'UpdateItem'], ['sales_by_close']);
    passes.readFrom(waitingRoom);

    const catalog = make('catalog');
    table.useFrom(catalog, ['GetItem', 'BatchGetItem'], ['sales_by_close', 'campaigns_by_id']);
    catalog.tell('GROUP_CLAIM', settings.operatorClaims.join(','));

    const order = make('order');
    table.useFrom(order, ['ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem'], ['campaigns_by_id']);
    queues.orders.consumeWith(order, { maxConcurrency: settings.orderConcurrency, ownDelays: true });
    queues.expiry.sendFrom(order);

    const deadLetter = make('dead_letter');
    table.useFrom(deadLetter, ['ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem'], ['campaigns_by_id']);
    queues.ordersDlq.consumeWith(deadLetter, { maxConcurrency: deadLetter.reservedConcurrency ?? settings.orderConcurrency });
    queues.quarantine.sendFrom(deadLetter);
    queues.expiry.sendFrom(deadLetter);

    const expiry = make('expiry', true);
    table.useFrom(expiry, ['GetItem', 'UpdateItem', 'DeleteItem']);
    queues.expiry.consumeWith(expiry);
    queues.expiry.sendFrom(expiry);

    const payment = make('payment');
    table.useFrom(payment, ['UpdateItem']);
    queues.expiry.sendFrom(payment);
    secret.readFrom(payment);

    const warmup = make('warmup');
    table.useFrom(warmup, ['BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem'], ['sales_by_close', 'guards_by_round', 'blocked_by_end']);
    new EveryMinute(this, 'WarmupSchedule', warmup);
    queues.rebuilds.consumeWith(warmup, { maxConcurrency: REBUILD_PROCESSES });

    const reconciliation = make('reconciliation');
    table.useFrom(
      reconciliation,
      ['BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'],
      ['sales_by_close', 'guards_by_round', 'orders_by_round', 'pending_by_pay_by', 'blocked_by_end'],
    );
    queues.orders.sendFrom(reconciliation);
    if (settings.throttleBusySalesTo !== undefined) reconciliation.tell('THROTTLE_BUSY_SALES_TO', String(settings.throttleBusySalesTo));
    new EveryMinute(this, 'ReconciliationSchedule', reconciliation);

    const dailyReset = make('daily_reset');
    table.useFrom(dailyReset, ['BatchGetItem', 'GetItem', 'PutItem'], ['sales_by_close']);
    new EveryMinute(this, 'DailyResetSchedule', dailyReset);

    const draw = make('draw');
    table.useFrom(draw, ['BatchGetItem', 'ConditionCheckItem', 'GetItem', 'PutItem', 'UpdateItem'], ['sales_by_close', 'orders_by_round']);
    for (const queue of [queues.orders, queues.ordersDlq]) queue.countWith(draw);
    queues.winners.sendFrom(draw);
    new EveryMinute(this, 'DrawSchedule', draw);

    const winners = make('winners');
    table.useFrom(winners, ['GetItem', 'UpdateItem']);
    queues.winners.consumeWith(winners, { maxConcurrency: WINNER_PROCESSES, polled: isPolled(settings.giftUrl) });
    winnerSecret.readFrom(winners);
    winners.tell('WINNERS_PER_S', `${Math.floor(settings.winnersPerSecond / WINNER_PROCESSES)}`);
    if (settings.giftUrl !== undefined) winners.tell('GIFT_URL', settings.giftUrl);

    const admin = make('admin');
    table.useFrom(
      admin,
      ['ConditionCheckItem', 'GetItem', 'BatchGetItem', 'BatchWriteItem', 'PutItem', 'UpdateItem', 'DeleteItem'],
      [
        ...(['sales_by_close', 'guards_by_round', 'orders_by_round', 'orders_by_time', 'orders_by_user'] as const),
        ...(['refunds_by_time', 'blocked_by_end', 'campaigns_by_id', 'members_by_group'] as const),
      ],
    );
    queues.operateFrom(admin);
    admin.tell('OPERATOR_CLAIM', settings.operatorClaims.join(','));
    admin.tell('OPERATOR_GROUP', OPERATOR_GROUP);
    if (settings.pictureHosts.length > 0) admin.tell('PICTURE_HOSTS', settings.pictureHosts.join(','));

    const push = new PushApi(this, 'PushApi', settings);
    const websocket = make('websocket');
    table.useFrom(websocket, ['PutItem', 'DeleteItem'], ['connections_by_user']);
    websocket.tell('JWT_ISSUER', identity.issuer);
    websocket.tell('JWT_AUDIENCE', identity.audience.join(','));
    push.manageFrom(websocket, 'DELETE');
    push.answerWith(websocket);

    const notifier = make('notifier');
    table.useFrom(notifier, ['GetItem', 'DeleteItem'], ['connections_by_user']);
    table.feedTo(notifier, NEWS_FOR_BUYERS, queues.notifierFailures);
    notifier.alarmWhenBehind(alarms, 'notifier-late');
    push.manageFrom(notifier, 'POST');

    const bus = new EventBus(this, 'Events', settings);
    const emitter = make('emitter');
    table.feedTo(emitter, FACTS_FOR_MERCHANTS, queues.emitterFailures);
    emitter.alarmWhenBehind(alarms, 'emitter-late');
    bus.putFrom(emitter);
    queues.emitterFailures.sendFrom(emitter);

    // Without an address nothing is sent to its queue. Messages left when the address is removed can be sent back later.
    const webhook = make('webhook');
    queues.webhook.consumeWith(webhook, {
      maxConcurrency: webhook.reservedConcurrency ?? WEBHOOK_PROCESSES,
      ownDelays: true,
      polled: isPolled(settings.webhookUrl),
    });
    webhookSecret.readFrom(webhook);
    if (settings.webhookUrl !== undefined) {
      webhook.tell('WEBHOOK_URL', settings.webhookUrl);
      bus.fill(queues.webhook, queues.webhookDlq);
    }

    const api = new HttpApi(this, 'HttpApi', settings, identity, functions);

    const parts = [
      watchDoor(settings, alarms, api),
      watchAudit(settings, alarms),
      watchPayments(settings, alarms),
      watchDraws(settings, alarms),
      queues.part,
      watchFunctions(settings, alarms, functions),
      ...(redis.part === undefined ? [] : [redis.part]),
      table.part(),
      push.watch(alarms),
    ];
    if (settings.observability === 'full') new Dashboard(this, 'Dashboard', settings, alarms, parts);
    if (settings.releases === 'canary') {
      const application = new LambdaApplication(this, 'Releases', { applicationName: settings.name });
      for (const name of ANSWERING) functions[name].release(application, alarms.named(...STOPS_A_RELEASE));
    }
    if (settings.edge !== undefined) {
      const stack = needsEdgeStack(settings.edge) ? new EdgeStack(scope, 'FlashSaleEdge', { settings, edge: settings.edge }) : undefined;
      if (stack !== undefined) this.addStackDependency(stack);
      const page = new Page(this, 'Page', { settings, pages: props.pages, edge: settings.edge, identity, push });
      const edge = new Edge(this, 'Edge', { name: settings.name, page, api, edge: settings.edge, stack });
      for (const each of ANSWERING) edge.makeKnownTo(functions[each]);
      identity.signInAt(edge.url);
      this.output({ EdgeUrl: edge.url, EdgeCloudFrontName: edge.cloudFrontName, EdgeKeySecretArn: edge.keyArn });
    }

    this.output({
      ...{ ApiUrl: api.url, PushUrl: push.url, AlarmTopicArn: alarms.topic.topicArn, TableName: table.name },
      ...{ OrdersQueueUrl: queues.orders.url, OrdersDlqUrl: queues.ordersDlq.url, QuarantineQueueUrl: queues.quarantine.url },
      ...{ ExpiryQueueUrl: queues.expiry.url, ExpiryDlqUrl: queues.expiryDlq.url, RebuildsQueueUrl: queues.rebuilds.url },
      ...{ WinnersQueueUrl: queues.winners.url, WinnersDlqUrl: queues.winnersDlq.url },
      ...{ EventBusName: bus.name, EmitterFailuresQueueUrl: queues.emitterFailures.url },
      ...{ WebhookQueueUrl: queues.webhook.url, WebhookDlqUrl: queues.webhookDlq.url, WebhookSecretArn: webhookSecret.arn },
      ...{ PaymentSecretArn: secret.arn, WinnerSecretArn: winnerSecret.arn, PassSecretArn: passes.arn, RedisUrl: redis.url },
      ...{ WarmupFunctionName: warmup.lambda.functionName, ReconciliationFunctionName: reconciliation.lambda.functionName },
      // In the form that `cargo lambda deploy --role` takes.
      ...Object.fromEntries(FUNCTION_NAMES.map((name) => [roleOutput(name), functions[name].role.roleArn])),
      ...identity.userPool,
    });
  }

  private output(values: Record<string, string>): void {
    for (const [name, value] of Object.entries(values)) new CfnOutput(this, name, { value });
  }
}

/** For example dead_letter: DeadLetterRoleArn. */
function roleOutput(name: FunctionName): string {
  const words = name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}RoleArn`;
}

import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { WebSocketLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { accept, accessLog } from './cdk.ts';
import { type Alarms, FAILURES_A_MINUTE } from './alarms.ts';
import { graph, type Part, PERIOD } from './dashboard.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

/** A constant rather than read from the stage, which depends on the functions that need its name. */
const PUSH_STAGE = 'push';

/** The limit of new connections a second in an account, unless AWS has raised it (quotas for WebSocket APIs). */
const CONNECTIONS = { rateLimit: 500, burstLimit: 500 };

/** The query contains the token, so no field that shows the query. */
const ACCESS_LOG = {
  request_id: '$context.requestId',
  route: '$context.routeKey',
  event: '$context.eventType',
  status: '$context.status',
  connection_id: '$context.connectionId',
  gateway_error: '$context.error.messageString',
  function_error: '$context.integrationErrorMessage',
};

/** The WebSocket API that pushes the state of reservations to buyers. */
export class PushApi extends Construct {
  readonly url: string;
  /** The first part of `url`, without the path. */
  readonly origin: string;
  private readonly api: apigateway.WebSocketApi;
  private readonly stage: apigateway.WebSocketStage;
  private readonly managementUrl: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.api = new apigateway.WebSocketApi(this, 'Api', { apiName: `${settings.name}-push`, routeSelectionExpression: '$request.body.action' });
    this.stage = new apigateway.WebSocketStage(this, 'Stage', {
      webSocketApi: this.api,
      stageName: PUSH_STAGE,
      autoDeploy: true,
      throttle: CONNECTIONS,
      accessLogSettings: accessLog(this, settings, 'push', ACCESS_LOG),
    });
    this.stage.node.addDependency(this.logWriter());
    const stage = this.stage.node.defaultChild as apigateway.CfnStage;
    // Both would write the token into a log.
    stage.addPropertyOverride('DefaultRouteSettings.DataTraceEnabled', false);
    stage.addPropertyOverride('DefaultRouteSettings.LoggingLevel', 'OFF');

    const { region, urlSuffix } = Stack.of(this);
    const host = `${this.api.apiId}.execute-api.${region}.${urlSuffix}`;
    this.origin = `wss://${host}`;
    this.url = `${this.origin}/${PUSH_STAGE}`;
    const management = settings.emulator === undefined ? `https://${host}` : `${settings.emulator}/_aws/execute-api/${this.api.apiId}`;
    this.managementUrl = `${management}/${PUSH_STAGE}`;
  }

  /** Sets the function that accepts connections. It verifies the token itself: WebSocket APIs have no JWT authorizer. */
  answerWith(fn: RustFunction): void {
    const integration = new WebSocketLambdaIntegration(fn.name, fn.lambda);
    // Clients only listen: there is no route for their messages.
    for (const route of ['$connect', '$disconnect']) {
      // A stage of an API without a route is refused.
      const made = this.api.addRoute(route, { integration });
      accept(made, 'APIG4', 'The function verifies the token, which a browser can only send in the query.');
      this.stage.node.addDependency(made);
    }
  }

  watch(alarms: Alarms): Part {
    const unreachable = this.metric('ExecutionError');
    alarms.ringAt('push-failing', unreachable, FAILURES_A_MINUTE);
    return ['Push', [
      graph('Connections made', [this.metric('ConnectCount')]),
      graph('Messages', [this.metric('MessageCount')]),
      graph('Failures', [unreachable, this.metric('IntegrationError'), this.metric('ClientError')]),
    ]];
  }

  private metric(metricName: string): Metric {
    return this.api.metric(metricName, { statistic: Stats.SUM, period: PERIOD });
  }

  /** Lets a function close connections, or post to them. */
  manageFrom(fn: RustFunction, method: 'DELETE' | 'POST'): void {
    fn.tell('PUSH_ENDPOINT', this.managementUrl);
    const resourceName = `${PUSH_STAGE}/${method}/@connections/*`;
    const connections = Stack.of(this).formatArn({ service: 'execute-api', resource: this.api.apiId, resourceName });
    fn.allow(['execute-api:ManageConnections'], [connections]);
    const { node } = this.api;
    const apiId = Stack.of(this).getLogicalId(node.defaultChild as apigateway.CfnApi);
    const finding = `Resource::arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<${apiId}>/${resourceName}`;
    accept(fn, 'IAM5', "The gateway chooses a connection's id when it is opened.", finding);
  }

  /**
   * The role with which API Gateway writes logs of WebSocket APIs. An account has one per region for all stacks, so it outlives
   * this one.
   */
  private logWriter(): CfnAccount {
    const role = new iam.Role(this, 'LogWriter', {
      assumedBy: new iam.ServicePrincipal('apigateway.amazonaws.com'),
      managedPolicies: [iam.ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs')],
    });
    role.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    const policy = 'Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs';
    accept(role, 'IAM4', 'The role belongs to the account, for all of its APIs, and AWS provides this policy for it.', policy);
    const account = new CfnAccount(this, 'Account', { cloudWatchRoleArn: role.roleArn });
    account.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    return account;
  }
}

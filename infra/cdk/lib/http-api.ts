import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { accept } from './accept.ts';
import { HTTP_LIMIT_S, type FunctionName } from './functions.ts';
import type { Identity } from './identity.ts';
import { type Route, ROUTES } from './routes.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

const PERIOD = Duration.minutes(1);
/** The route, not the path: the path of a reservation carries a token. */
const ACCESS_LOG = {
  request_id: '$context.requestId',
  route: '$context.routeKey',
  status: '$context.status',
  latency_ms: '$context.responseLatency',
  function_latency_ms: '$context.integrationLatency',
  bytes: '$context.responseLength',
  gateway_error: '$context.error.message',
  authorizer_error: '$context.authorizer.error',
  function_error: '$context.integrationErrorMessage',
};

const WITHOUT_TOKEN: Partial<Record<Route['checkedBy'], string>> = {
  nobody: 'It is what everybody may see, with or without a name.',
  signature: 'The function checks the signature of the caller, who is a program of the payment provider.',
};

/** The door: routes, who may pass, how many at once, and a line in the log for each. */
export class HttpApi extends Construct {
  readonly url: string;
  private readonly api: apigateway.HttpApi;

  constructor(
    scope: Construct,
    id: string,
    settings: Settings,
    identity: Identity,
    functions: Record<FunctionName, RustFunction>,
  ) {
    super(scope, id);
    const api = new apigateway.HttpApi(this, 'Api', { apiName: settings.name, createDefaultStage: false });
    const log = new logs.LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/vendedlogs/${settings.name}/access`,
      retention: settings.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const stage = new apigateway.HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: settings.throttle.requestsPerSecond, burstLimit: settings.throttle.burst },
      accessLogSettings: {
        destination: new apigateway.LogGroupLogDestination(log),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });

    const jwt = new HttpJwtAuthorizer('Jwt', identity.issuer, { jwtAudience: identity.audience });
    const none = new apigateway.HttpNoneAuthorizer();
    const throttled: Record<string, object> = {};
    const integrations = new Map<FunctionName, HttpLambdaIntegration>();
    for (const route of ROUTES) {
      const fn = functions[route.to];
      if (fn.facts.timeout_s >= HTTP_LIMIT_S) throw new Error(`${fn.name} may take longer than the gateway waits`);
      // CloudFormation knows it by the function's first route: another order in openapi.yaml makes it anew.
      const integration = integrations.get(route.to) ?? new HttpLambdaIntegration(route.to, fn.front);
      integrations.set(route.to, integration);
      const made = api.addRoutes({
        path: route.path,
        methods: [apigateway.HttpMethod[route.method]],
        integration,
        authorizer: route.checkedBy === 'jwt' ? jwt : none,
      });
      const reason = WITHOUT_TOKEN[route.checkedBy];
      if (reason !== undefined) for (const each of made) accept(each, 'APIG4', reason);
      if (route.throttle === undefined) continue;
      const { requestsPerSecond, burst } = settings.throttle[route.throttle];
      // Given to CloudFormation as it stands.
      throttled[`${route.method} ${route.path}`] = {
        ThrottlingRateLimit: requestsPerSecond,
        ThrottlingBurstLimit: burst,
      };
      // A stage with settings for a route that is not there yet is refused.
      stage.node.addDependency(...made);
    }
    (stage.node.defaultChild as apigateway.CfnStage).routeSettings = throttled;
    this.api = api;
    this.url = api.apiEndpoint;
  }

  /** Answers of 500 and above in a minute, the functions' own among them. */
  serverErrors(): Metric {
    return this.api.metricServerError({ statistic: Stats.SUM, period: PERIOD });
  }

  clientErrors(): Metric {
    return this.api.metricClientError({ statistic: Stats.SUM, period: PERIOD });
  }

  requests(): Metric {
    return this.api.metricCount({ statistic: Stats.SUM, period: PERIOD });
  }

  latencies(): Metric[] {
    return ['p50', 'p99'].map((statistic) => this.api.metricLatency({ statistic, period: PERIOD, label: statistic }));
  }
}

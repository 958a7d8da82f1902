import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { accept, accessLog } from './cdk.ts';
import { PERIOD } from './dashboard.ts';
import { HTTP_LIMIT_S, type FunctionName } from './functions.ts';
import type { Identity } from './identity.ts';
import { type Route, ROUTES } from './routes.ts';
import type { RustFunction } from './rust-function.ts';
import type { Settings } from './settings.ts';

/** The route rather than the path: the path of a reservation contains a pass. */
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
  nobody: 'Everybody may see it, signed in or not.',
  signature: "The function verifies the payment provider's signature.",
};

/** The gateway: routes, authorization, throttles, and a log line for each request. */
export class HttpApi extends Construct {
  readonly url: string;
  private readonly api: apigateway.HttpApi;

  constructor(scope: Construct, id: string, settings: Settings, identity: Identity, functions: Record<FunctionName, RustFunction>) {
    super(scope, id);
    const api = new apigateway.HttpApi(this, 'Api', { apiName: settings.name, createDefaultStage: false });
    const stage = new apigateway.HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: settings.throttle.requestsPerSecond, burstLimit: settings.throttle.burst },
      accessLogSettings: accessLog(this, settings, 'access', ACCESS_LOG),
    });

    const jwt = new HttpJwtAuthorizer('Jwt', identity.issuer, { jwtAudience: identity.audience });
    const none = new apigateway.HttpNoneAuthorizer();
    const throttled: Record<string, object> = {};
    const integrations = new Map<FunctionName, HttpLambdaIntegration>();
    for (const route of ROUTES) {
      const fn = functions[route.to];
      if (fn.facts.timeout_s >= HTTP_LIMIT_S) throw new Error(`${fn.name} has a longer timeout than the gateway`);
      // CloudFormation identifies it by the function's first route: reordering api.yaml replaces it.
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
      // Passed to CloudFormation unchanged.
      throttled[`${route.method} ${route.path}`] = { ThrottlingRateLimit: requestsPerSecond, ThrottlingBurstLimit: burst };
      // A stage with settings for a route that does not exist yet is refused.
      stage.node.addDependency(...made);
    }
    (stage.node.defaultChild as apigateway.CfnStage).routeSettings = throttled;
    this.api = api;
    this.url = api.apiEndpoint;
  }

  metric(metricName: string, statistic: string): Metric {
    return this.api.metric(metricName, { statistic, period: PERIOD });
  }
}

import { Duration, TimeZone } from 'aws-cdk-lib';
import { Schedule } from 'aws-cdk-lib/aws-applicationautoscaling';
import { type IAlarm, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import * as codedeploy from 'aws-cdk-lib/aws-codedeploy';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { accept, logGroup } from './cdk.ts';
import type { AlarmId, Alarms } from './alarms.ts';
import { PERIOD } from './dashboard.ts';
import { builtFunction } from './function-assets.ts';
import { ANSWERING, FUNCTIONS, type FunctionFacts, type FunctionName, IN_FRONT } from './functions.ts';
import type { Network } from './network.ts';
import type { ProvisionedWindow, Settings } from './settings.ts';

/** Lambda creates network interfaces with the function's role; AWS supports no narrower resource for these actions. */
export const NETWORK_INTERFACE_ACTIONS = [
  'ec2:AssignPrivateIpAddresses', 'ec2:CreateNetworkInterface', 'ec2:DeleteNetworkInterface', 'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets', 'ec2:UnassignPrivateIpAddresses',
];

const BEHIND_MS = 30_000;

export interface RustFunctionProps {
  settings: Settings;
  /** The folder with a subfolder for each built function. */
  assetRoot: string;
  network?: Network;
  /** The function intentionally sends to the queue that it reads. */
  feedsItself?: boolean;
}

/** A Lambda function with its log group and a role that initially may only write that log. */
export class RustFunction extends Construct {
  readonly lambda: lambda.Function;
  /** The version or alias that the gateway calls. */
  readonly front: lambda.IFunction;
  readonly name: FunctionName;
  readonly facts: FunctionFacts;
  /** Its reserved concurrency, if any. */
  readonly reservedConcurrency: number | undefined;
  readonly role: iam.Role;
  private readonly alias: lambda.Alias | undefined;

  constructor(scope: Construct, name: FunctionName, props: RustFunctionProps) {
    super(scope, name);
    const { settings, network } = props;
    this.name = name;
    this.facts = FUNCTIONS[name];
    const reserved: Partial<Record<FunctionName, number>> = settings.reservedConcurrency?.functions ?? {};
    this.reservedConcurrency = reserved[name];
    const functionName = `${settings.name}-${name}`;

    const log = logGroup(this, 'Log', settings, `/aws/lambda/${functionName}`);
    this.role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
    this.allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [log.logGroupArn]);
    if (network !== undefined) this.allow(NETWORK_INTERFACE_ACTIONS, ['*']);
    const narrowest = 'AWS supports no narrower resource for network interfaces and traces.';
    if (network !== undefined || settings.tracing) accept(this.role, 'IAM5', narrowest, 'Resource::*');

    this.lambda = new lambda.Function(this, 'Function', {
      functionName,
      description: `${name}: ${this.facts.does}`,
      runtime: lambda.Runtime.PROVIDED_AL2023,
      // A custom runtime takes no notice of it. On the local cloud one program is all functions, and becomes this one.
      handler: name,
      code: builtFunction(props.assetRoot, name, settings.architecture),
      architecture: settings.architecture === 'arm64' ? lambda.Architecture.ARM_64 : lambda.Architecture.X86_64,
      memorySize: this.facts.memoryMb ?? settings.functionMemoryMb,
      timeout: Duration.seconds(this.facts.timeout_s),
      reservedConcurrentExecutions: this.reservedConcurrency,
      role: this.role,
      logGroup: log,
      environment: {
        LOG_LEVEL: settings.logLevel,
        METRICS_NAMESPACE: settings.name,
        ...(settings.observability === 'essential' ? { METRICS: 'off' } : {}),
      },
      ipv6AllowedForDualStack: network !== undefined && settings.network === 'dual-stack' ? true : undefined,
      vpc: network,
      vpcSubnets: network && { subnets: network.isolatedSubnets },
      securityGroups: network && [network.functions],
      tracing: settings.tracing ? lambda.Tracing.ACTIVE : undefined,
      // Lambda takes a function that feeds itself for a mistake and stops it after about 16 rounds.
      recursiveLoop: props.feedsItself ? lambda.RecursiveLoop.ALLOW : undefined,
    });
    const warm = IN_FRONT.some((each) => each === name) && settings.provisioned.length > 0;
    const versioned = settings.releases !== 'in-place' && ANSWERING.some((each) => each === name);
    // Releases move it from version to version.
    this.alias = warm || versioned ? this.lambda.addAlias('live') : undefined;
    this.front = this.alias ?? this.lambda;
    if (warm) this.provision(settings.provisioned);
  }

  /** For a function behind a stream: rings when the records that it reads are older than half a minute. */
  alarmWhenBehind(alarms: Alarms, id: AlarmId): void {
    const age = this.lambda.metric('IteratorAge', { statistic: Stats.MAXIMUM, period: PERIOD });
    alarms.ringAt(id, age, BEHIND_MS, { evaluationPeriods: 2 });
  }

  /** Keeps processes ready for the crowd of an opening. */
  private provision(windows: ProvisionedWindow[]): void {
    const processes = this.alias?.addAutoScaling({ minCapacity: 0, maxCapacity: 0 });
    windows.forEach(({ from, to, timeZone, count }, index) => {
      const at = (when: string, capacity: number) => ({
        schedule: when.startsWith('cron(') ? Schedule.expression(when) : Schedule.at(new Date(when)),
        timeZone: timeZone === undefined ? undefined : TimeZone.of(timeZone),
        minCapacity: capacity,
        maxCapacity: capacity,
      });
      processes?.scaleOnSchedule(`From${index}`, at(from, count));
      processes?.scaleOnSchedule(`To${index}`, at(to, 0));
    });
  }

  /**
   * A new version gets a tenth of the requests for five minutes, and then all. If an alarm rings meanwhile, CodeDeploy switches
   * back to the old one, and CloudFormation rolls the whole deployment back.
   */
  release(application: codedeploy.ILambdaApplication, alarms: IAlarm[]): void {
    if (this.alias === undefined) return;
    const group = new codedeploy.LambdaDeploymentGroup(this, 'Release', {
      application,
      alias: this.alias,
      deploymentConfig: codedeploy.LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    const policy = 'Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited';
    accept(group, 'IAM4', 'AWS provides this policy for CodeDeploy; it only permits moving aliases.', policy);
  }

  allow(actions: string[], resources: string[], conditions?: iam.Conditions): void {
    this.role.addToPrincipalPolicy(new iam.PolicyStatement({ actions, resources, conditions }));
  }

  /** Denies what another statement allows, where the condition holds. */
  deny(actions: string[], resources: string[], conditions: iam.Conditions): void {
    this.role.addToPrincipalPolicy(new iam.PolicyStatement({ effect: iam.Effect.DENY, actions, resources, conditions }));
  }

  tell(variable: string, value: string): void {
    this.lambda.addEnvironment(variable, value);
  }
}

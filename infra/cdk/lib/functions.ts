/** What the functions are, at one glance. The bin, the asset folder and the function's name end in the same word. */
export interface FunctionFacts {
  timeout_s: number;
  /** Needs the stock, so it runs inside the VPC. */
  redis: boolean;
  does: string;
  /** In MB, if the setting for all is not enough. Lambda gives a core for 1,769 MB, and a part of one for less. */
  memoryMb?: number;
}

export const FUNCTIONS = {
  reservation: { timeout_s: 10, redis: true, does: 'takes, reads and cancels reservations' },
  admission: { timeout_s: 10, redis: true, does: 'gives challenges and the way into a sale' },
  waiting_room: { timeout_s: 10, redis: true, does: 'gives tickets for the line in front of a sale, and moves it on' },
  catalog: { timeout_s: 10, redis: true, does: 'shows campaigns and sales to everybody' },
  payment: { timeout_s: 10, redis: false, does: "takes the payment provider's callbacks" },
  admin: { timeout_s: 29, redis: true, does: 'creates, publishes, steers and audits sales' },
  order: { timeout_s: 30, redis: true, does: 'turns reservations into orders' },
  dead_letter: { timeout_s: 30, redis: true, does: 'makes orders that could not be made at first, and fails what never can be one' },
  expiry: { timeout_s: 30, redis: true, does: 'expires unpaid orders' },
  reconciliation: { timeout_s: 55, redis: true, does: 'finds what Redis and the ledger disagree on, and repairs it' },
  daily_reset: { timeout_s: 50, redis: false, does: 'begins the next round of sales that come again' },
  // A million entries are counted and hashed in one run.
  draw: { timeout_s: 55, redis: true, does: 'draws the winners of rounds that are drawn at their end', memoryMb: 1769 },
  warmup: { timeout_s: 50, redis: true, does: 'loads rounds that open soon and rounds that Redis lost' },
  winners: { timeout_s: 30, redis: false, does: 'tells the gift service of winners, at its pace' },
  websocket: { timeout_s: 10, redis: false, does: 'lets buyers listen' },
  notifier: { timeout_s: 30, redis: false, does: 'tells buyers who listen what became of their reservations' },
  emitter: { timeout_s: 30, redis: false, does: "puts what has happened on the bus of the merchant's systems" },
  webhook: { timeout_s: 30, redis: false, does: "sends events to the merchant's address" },
} as const satisfies Record<string, FunctionFacts>;

export type FunctionName = keyof typeof FUNCTIONS;

export const FUNCTION_NAMES = Object.keys(FUNCTIONS) as FunctionName[];

/** AWS asks for six times the function's timeout, so that a throttled batch is not delivered twice. */
export const VISIBILITY_PER_TIMEOUT = 6;

/** An HTTP API gives up after 30 s; a function that answers it must be done before. */
export const HTTP_LIMIT_S = 30;

export const SCHEDULE_EVERY_S = 60;

/** The group that makes a user an operator. */
export const OPERATOR_GROUP = 'operators';

/** Where issuers put a person's groups: Cognito, and most others. */
export const OPERATOR_CLAIMS = ['groups', 'cognito:groups'];

/** Functions that a person or a provider waits for. */
export const ANSWERING = ['reservation', 'admission', 'waiting_room', 'catalog', 'payment', 'admin'] as const satisfies FunctionName[];

/** Functions that meet the crowd of an opening. */
export const IN_FRONT = ['reservation', 'admission'] as const satisfies FunctionName[];

/** Functions that run on a schedule and take no input. */
export const SCHEDULED = ['warmup', 'reconciliation', 'daily_reset', 'draw'] as const satisfies FunctionName[];

/** Functions that Lambda feeds from a queue. */
export const QUEUE_FED = ['order', 'dead_letter', 'expiry', 'winners', 'webhook'] as const satisfies FunctionName[];

/** Functions that must run while a crowd takes all that is left: they take payments, stop sales, finish and repair. */
export type ReservedFunction = 'payment' | 'admin' | (typeof QUEUE_FED)[number] | (typeof SCHEDULED)[number];

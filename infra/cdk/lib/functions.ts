/** Facts about the functions. The binary, the asset folder and the function's name end in the same word. */
export interface FunctionFacts {
  timeout_s: number;
  /** Uses Redis, so it runs inside the VPC. */
  redis: boolean;
  does: string;
  /** In MB, if the common setting is not enough. Lambda gives one core at 1,769 MB, and a fraction of one below. */
  memoryMb?: number;
}

export const FUNCTIONS = {
  reservation: { timeout_s: 10, redis: true, does: 'takes, reads and cancels reservations' },
  admission: { timeout_s: 10, redis: true, does: 'gives challenges and passes into a sale' },
  waiting_room: { timeout_s: 10, redis: true, does: 'gives tickets for the line in front of a sale, and moves it on' },
  catalog: { timeout_s: 10, redis: true, does: 'shows campaigns and sales to everybody' },
  payment: { timeout_s: 10, redis: false, does: "handles the payment provider's callbacks" },
  admin: { timeout_s: 29, redis: true, does: 'creates, publishes, operates and audits sales' },
  order: { timeout_s: 30, redis: true, does: 'turns reservations into orders' },
  dead_letter: { timeout_s: 30, redis: true, does: 'makes orders that could not be made at first, and fails what never can be one' },
  expiry: { timeout_s: 30, redis: true, does: 'expires unpaid orders' },
  reconciliation: { timeout_s: 55, redis: true, does: 'finds where Redis and the ledger disagree, and repairs it' },
  daily_reset: { timeout_s: 50, redis: false, does: 'begins the next round of recurring sales' },
  // A million entries are counted and hashed in one run.
  draw: { timeout_s: 55, redis: true, does: 'draws the winners of rounds that are drawn at their end', memoryMb: 1769 },
  warmup: { timeout_s: 50, redis: true, does: 'loads rounds that open soon, and at once those that Redis lost' },
  winners: { timeout_s: 30, redis: false, does: 'notifies the gift service of winners, at a limited rate' },
  websocket: { timeout_s: 10, redis: false, does: 'lets buyers listen' },
  notifier: { timeout_s: 30, redis: false, does: 'pushes the state of orders to connected buyers' },
  emitter: { timeout_s: 30, redis: false, does: "puts events on the merchant's bus" },
  webhook: { timeout_s: 30, redis: false, does: "sends events to the merchant's address" },
} as const satisfies Record<string, FunctionFacts>;

export type FunctionName = keyof typeof FUNCTIONS;

export const FUNCTION_NAMES = Object.keys(FUNCTIONS) as FunctionName[];

/** AWS recommends six times the function's timeout, so that a throttled batch is not delivered twice. */
export const VISIBILITY_PER_TIMEOUT = 6;

/** An HTTP API gives up after 30 s; a function that answers it must be done before. */
export const HTTP_LIMIT_S = 30;

/** The group that makes a user an operator. */
export const OPERATOR_GROUP = 'operators';

/** Functions that a person or the payment provider waits for. */
export const ANSWERING = ['reservation', 'admission', 'waiting_room', 'catalog', 'payment', 'admin'] as const satisfies FunctionName[];

/** Functions that serve the crowd of an opening. */
export const IN_FRONT = ['reservation', 'admission'] as const satisfies FunctionName[];

/** Functions that run on a schedule and take no input. */
export const SCHEDULED = ['warmup', 'reconciliation', 'daily_reset', 'draw'] as const satisfies FunctionName[];

/** Functions that Lambda invokes from a queue. */
export const QUEUE_FED = ['order', 'dead_letter', 'expiry', 'winners', 'webhook'] as const satisfies FunctionName[];

/** Functions that must be able to run while a crowd uses up the rest: they take payments, stop sales, finish and repair. */
export type ReservedFunction = 'payment' | 'admin' | (typeof QUEUE_FED)[number] | (typeof SCHEDULED)[number];

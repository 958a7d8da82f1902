/**
 * A client of the flash sale: typed requests, and a purchase from the challenge to the paid order.
 *
 * @packageDocumentation
 */

export { type ClientOptions, FlashSaleClient, type Orders, type Purchase, type SalePage, type SaleReservations } from './client.js';
export { NoAnswerError, type Problem, ProblemError } from './errors.js';
export type { AwaitingTickets, InLine, LineDocument } from './line.js';
export type { components, operations, paths } from './openapi.js';
export type { Range } from './place.js';
export type { Admission, AnswerPicture, BuyOptions, Challenge, PictureChallenge, PurchaseState, Refusal } from './purchase.js';
export type { OpenSocket, PushSocket } from './push.js';
export { type Solver, type SolverWorker, solve, type Work, workerSolver } from './solver.js';
export type { GetToken, Retry } from './transport.js';
export { isFinal, type Reservation } from './watch.js';

/**
 * Named cases that check whether an exec server follows the protocol.
 *
 * @module execwire/conformance
 */

export type { CaseContext, ConformanceCase } from './case.js';
export { conformanceCases } from './cases/index.js';
export type { Wire, WireAnswer, WireChannel, WireEvent, WireParams } from './wire.js';
export { type CaseReport, type ConformanceTarget, runConformance } from './run.js';

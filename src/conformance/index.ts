/**
 * Named cases that tell whether an exec server keeps to the protocol.
 *
 * @module execwire/conformance
 */

export type { CaseContext, ConformanceCase } from './case.js';
export { conformanceCases } from './cases/index.js';
export type { Wire, WireAnswer, WireChannel, WireEvent, WireParams } from './wire.js';
export { type CaseReport, type ConformanceTarget, runConformance } from './run.js';

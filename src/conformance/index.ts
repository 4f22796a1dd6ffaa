export type { CaseContext, ConformanceCase } from './case.js';
export { conformanceCases } from './cases/index.js';
export { type CaseReport, type ConformanceTarget, runConformance } from './run.js';

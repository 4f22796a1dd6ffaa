import { test } from 'vitest';
import { runScenarios } from './run-scenarios.js';

const SCENARIOS = 200;
const LIMIT_MS = 180_000;

// Output whole, nothing typed twice, no process left, no descriptor, timer or memory kept: see run.mjs.
test(
  `${SCENARIOS} scenarios of cuts, stalls, silence and sudden death`,
  () => runScenarios('./run.mjs', SCENARIOS),
  LIMIT_MS,
);

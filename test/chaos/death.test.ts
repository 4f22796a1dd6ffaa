// Needs: bwrap, curl
import { test } from 'vitest';
import { runScenarios } from './run-scenarios.js';

/** `npm run chaos -- --death` plays as many as you like, several at a time. */
const SCENARIOS = 100;
const LIMIT_MS = 480_000;

// Output by hash, nothing typed twice, no invented end, no process and no file left: see death.mjs.
test(
  `${SCENARIOS} scenarios in which servers and keepers are killed, stopped and replaced`,
  // Sandboxes with rules for hosts take long to make. The long form has them, and durable-surroundings.test.ts.
  () => runScenarios('./death.mjs', SCENARIOS, ['--without', 'rules', '--concurrency', '2']),
  LIMIT_MS,
);

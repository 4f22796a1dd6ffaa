// Needs: nats-server
import { test } from 'vitest';
import { runScenarios } from './run-scenarios.js';

/** `npm run chaos -- --fleet` plays 200, or as many as you like. */
const SCENARIOS = 10;
const LIMIT_MS = 240_000;

// Output by hash, nothing typed twice, no invented end, no process left: see fleet.mjs.
test(
  `${SCENARIOS} scenarios in which NATS nodes, machines, clients and gateways are killed and stopped`,
  () => runScenarios('./fleet.mjs', SCENARIOS),
  LIMIT_MS,
);

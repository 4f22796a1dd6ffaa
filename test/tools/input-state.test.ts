import { stat } from 'node:fs';
import { expect, test } from 'vitest';
import { inputState } from '../../src/tools/input-state.js';
import type { ToolSession } from '../../src/tools/session/tool-session.js';

/** Longer than anybody waits for the answer. */
const STANDSTILL_MS = 2_100;

test('an answer that is there counts, even if nobody could look for longer than its limit', async () => {
  const inspect = () =>
    new Promise((resolve) => {
      stat('/', () => resolve({ waitsForInput: true, echo: true }));
    });
  // Nothing else of a session is asked for.
  const asked = inputState({ process: { inspect } } as unknown as ToolSession);
  // The whole process stands still, as on a machine that has no time for it; the answer comes meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDSTILL_MS);
  expect(await asked).toEqual({ needsInput: true, password: false, answered: true });
});

import { expect, test } from 'vitest';
import { AbsentMachine, type AbsentMachineOptions } from '../../src/fleet/absent-machine.js';

/** Asks for a machine until that is pointless. `says`: what the registry says, time after time. */
async function askFor(says: (boolean | undefined)[], change: Partial<AbsentMachineOptions> = {}) {
  let asked = 0;
  const expected = {
    knows: () => Promise.resolve(says[Math.min(asked++, says.length - 1)]),
  };
  const machine = new AbsentMachine({ bus: { isSettled: true }, expected, machine: 'a', ...change });
  const begun = performance.now();
  while (await machine.wait());
  return { asked, ms: performance.now() - begun, message: machine.error().message };
}

test('a machine that the registry does not know is not waited for, when it has said so twice', async () => {
  const { asked, message } = await askFor([false]);
  expect(asked).toBe(2);
  expect(message).toBe('No machine "a" is in the fleet; see `execwire fleet ls`.');
  // A node was behind the others.
  expect((await askFor([false, true, false])).asked).toBe(3);
});

test('a machine that the registry knows is waited for, but not for ever', async () => {
  const { asked, ms, message } = await askFor([true], { registeredMs: 700 });
  expect(ms).toBeGreaterThan(690);
  expect(asked).toBeGreaterThan(1);
  expect(message).toMatch(/^"a" is in the registry of the fleet, but nobody answers/);
});

test('where nobody knows, a machine is waited for a moment', async () => {
  const { ms, message } = await askFor([undefined]);
  expect(ms).toBeGreaterThan(490);
  expect(message).toMatch(/^No machine "a"/);
});

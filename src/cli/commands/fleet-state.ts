import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from '../../fleet/index.js';
import { ExecError, isExecError } from '../../protocol/errors.js';
import { withFleet } from './fleet-connection.js';

/** How often to ask a machine that is being drained what still runs there. */
const ASK_INTERVAL_MS = 500;
/** A machine that changes to another NATS node is back before. One that the registry knows is waited for anyway. */
const GONE_AFTER_MS = 4_000;

/** Changes whether machines take work. Prints each as soon as it has confirmed that. */
export async function changeState(names: readonly string[], state: 'ready' | 'cordoned'): Promise<void> {
  await withFleet(async (fleet) => {
    for (const name of names) {
      const machine = await fleet.setState(name, state);
      process.stdout.write(`${machine.name} is ${machine.state}\n`);
    }
  });
}

export async function drain(names: readonly string[], { wait }: { wait: boolean }): Promise<void> {
  await withFleet(async (fleet) => {
    await Promise.all(names.map((name) => drainOne(fleet, name, wait)));
  });
}

async function drainOne(fleet: Fleet, name: string, wait: boolean): Promise<void> {
  let { processes } = await fleet.setState(name, 'draining');
  process.stdout.write(`${name} starts nothing new; ${running(processes)}\n`);
  if (!wait) return;
  while (processes > 0) {
    await pause(ASK_INTERVAL_MS);
    const now = await processesOf(fleet, name);
    if (now !== processes) process.stdout.write(`${name}: ${running(now)}\n`);
    processes = now;
  }
  process.stdout.write(`${name} is drained\n`);
}

/** A machine that does not answer may be busy, and is asked again. One that is gone has not finished what it ran. */
async function processesOf(fleet: Fleet, name: string): Promise<number> {
  const begunAt = performance.now();
  for (;;) {
    try {
      return (await fleet.describe(name)).processes;
    } catch (error) {
      if (!isExecError(error, 'notConnected')) throw error;
      if (performance.now() > begunAt + GONE_AFTER_MS && error.data.isAbsent)
        throw new ExecError(
          'notConnected',
          `${name} left the fleet before everything that ran there had ended.`,
          { data: { machine: name }, cause: error },
        );
      await pause(ASK_INTERVAL_MS);
    }
  }
}

function running(count: number): string {
  return count === 1 ? '1 process is running' : `${count} processes are running`;
}

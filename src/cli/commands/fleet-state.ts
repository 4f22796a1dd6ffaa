import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from '../../fleet/index.js';
import { isExecError } from '../../protocol/errors.js';
import { withFleet } from './fleet-connection.js';

/** How often to ask a machine that is being drained what still runs there. */
const ASK_INTERVAL_MS = 500;

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
    const now = await fleet.describe(name).catch((error: unknown) => {
      // A machine that was stopped meanwhile has nothing left to finish.
      if (isExecError(error, 'notConnected')) return { processes: 0 };
      throw error;
    });
    if (now.processes !== processes) process.stdout.write(`${name}: ${running(now.processes)}\n`);
    processes = now.processes;
  }
  process.stdout.write(`${name} is drained\n`);
}

function running(count: number): string {
  return count === 1 ? '1 process is running' : `${count} processes are running`;
}

import { readFileSync } from 'node:fs';

/** What the main thread of a process has had of the processors so far. */
interface ProcessorTime {
  /** On a processor. */
  readonly computedMs: number;
  /** Ready to run, while the processors were busy with others. */
  readonly waitedMs: number;
}

function processorTime(pid: number): ProcessorTime {
  const text = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8');
  const [computed = 0, waited = 0] = text.split(' ').map((nanoseconds) => Number(nanoseconds) / 1e6);
  return { computedMs: computed, waitedMs: waited };
}

/**
 * How long a server has computed by the time it has answered. However busy the rest of the machine is, this is what it did
 * before it came to the answer.
 */
export async function computedUntil(pid: number, answered: () => Promise<unknown>): Promise<number> {
  const before = processorTime(pid).computedMs;
  await answered();
  return processorTime(pid).computedMs - before;
}

/**
 * How long an answer takes, without the time in which the server or we could not go on because the processors were busy
 * with others. Unlike what was computed, it also counts waiting for anything else, such as for requests of others.
 */
export async function delayUntil(pid: number, answered: () => Promise<unknown>): Promise<number> {
  const waited = (): number => processorTime(pid).waitedMs + processorTime(process.pid).waitedMs;
  const [began, before] = [performance.now(), waited()];
  await answered();
  return performance.now() - began - (waited() - before);
}

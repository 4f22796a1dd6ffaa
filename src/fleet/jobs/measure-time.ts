import type { Bus } from '../bus/bus.js';
import { StreamStore, streamsOf } from '../store/index.js';
import { CLIENT, jobSubjects } from './job-subjects.js';

/** How often to compare our clock with that of NATS, by which deadlines go. */
const INTERVAL_MS = 3_600_000;

/** Compares our clock with that of NATS: it stamps whatever somebody begins to read, and everybody may read their jobs. */
export async function measureTime(bus: Bus, fleet: string, client: string): Promise<void> {
  const store = await StreamStore.open(bus, streamsOf(fleet).jobs);
  await store.scan(jobSubjects(fleet).log(client, 'none', '0', CLIENT));
}

/** Does so for as long as nobody aborts. */
export function keepMeasuringTime(
  { bus, fleet }: { bus: Bus; fleet: string },
  { signal, failed }: { signal: AbortSignal; failed: (error: unknown) => void },
): void {
  const timer = setInterval(() => void measureTime(bus, fleet, 'none').catch(failed), INTERVAL_MS).unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

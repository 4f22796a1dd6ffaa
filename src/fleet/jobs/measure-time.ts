import type { Bus } from '../bus/bus.js';
import { StreamStore, streamsOf } from '../store/index.js';
import { CLIENT, jobSubjects } from './job-subjects.js';

/** Compares our clock with that of NATS: it stamps whatever somebody begins to read, and everybody may read their jobs. */
export async function measureTime(bus: Bus, fleet: string, client: string): Promise<void> {
  const store = await StreamStore.open(bus, streamsOf(fleet).jobs);
  await store.scan(jobSubjects(fleet).log(client, 'none', '0', CLIENT));
}

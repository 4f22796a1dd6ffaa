import { HOME } from '../../contract/index.js';
import { withFleet } from './fleet-connection.js';

export interface SubmitFlags {
  readonly on: string;
  readonly name?: string;
  readonly retries: number;
  readonly retryOn: 'lost' | 'failure';
  readonly priority: number;
  readonly deadline?: number;
  readonly limit?: { readonly name: string; readonly count: number };
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Queues a job, and prints its id once it cannot be lost any more. */
export async function submitJob(argv: readonly string[], flags: SubmitFlags): Promise<void> {
  const { deadline: deadlineMs, cwd = HOME, ...rest } = flags;
  await withFleet(async (fleet) => {
    const jobs = await fleet.jobs();
    const job = await jobs.submit({ ...rest, argv, cwd, deadlineMs });
    process.stdout.write(`${job.id}\n`);
  });
}

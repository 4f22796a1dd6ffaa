import type { Job } from '../../fleet/index.js';
import { outcomeText } from '../terminal/outcome-text.js';
import { durationOf } from '../terminal/quantities.js';
import { formatJson, formatTable, printable } from '../terminal/table.js';
import { withFleet } from './fleet-connection.js';

const HEADINGS = ['ID', 'STATE', 'ON', 'MACHINE', 'ATTEMPT', 'PRIORITY', 'AGE', 'NAME'];

export async function listJobs({
  all = false,
  json = false,
}: {
  all?: boolean;
  json?: boolean;
}): Promise<void> {
  const { listed, now } = await withFleet(async (fleet) => {
    const jobs = await fleet.jobs();
    return { listed: await jobs.list({ all }), now: jobs.now() };
  });
  if (json) return void process.stdout.write(formatJson(listed));
  const headings = all ? [...HEADINGS, 'CLIENT'] : HEADINGS;
  process.stdout.write(
    formatTable(
      headings,
      listed.map((job) => (all ? [...rowOf(job, now), job.client] : rowOf(job, now))),
    ),
  );
}

export async function describeJob(id: string, { json = false }: { json?: boolean }): Promise<void> {
  const { job, waits, now } = await withFleet(async (fleet) => {
    const jobs = await fleet.jobs();
    const found = await jobs.describe(id);
    return { job: found, waits: await jobs.whyQueued(found), now: jobs.now() };
  });
  if (json) return void process.stdout.write(formatJson(waits === undefined ? job : { ...job, waits }));
  const row = rowOf(job, now);
  const rows = HEADINGS.map((heading, index) => [heading.toLowerCase(), row[index] ?? '']);
  const more = [
    ['submitted', new Date(job.submittedAt).toISOString()],
    ['retries', `${job.retriesLeft} left`],
    ...(waits === undefined ? [] : [['waits', waits]]),
    ...(job.result?.kind === 'failed' ? [['reason', job.result.message]] : []),
    ...(job.machine === undefined
      ? []
      : [['output', `execwire logs -e fleet:${job.machine} ${job.processId}`]]),
  ];
  for (const [key = '', value = ''] of [...rows, ...more])
    process.stdout.write(`${key.padEnd(10)} ${printable(value)}\n`);
}

/** `now`: by the clock of NATS, as all times of jobs. */
function rowOf(job: Job, now: number): string[] {
  const { id, on, machine = '', attempt, priority, submittedAt, name = '' } = job;
  const age = durationOf(Math.max(0, now - submittedAt) / 1000);
  return [id, stateOf(job), on, machine, String(attempt), String(priority), age, name];
}

function stateOf({ state, result, isEnding }: Job): string {
  if (state === 'running' && isEnding) return 'ending';
  return result ? outcomeText(result) : state;
}

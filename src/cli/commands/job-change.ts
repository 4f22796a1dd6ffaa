import { withFleet } from './fleet-connection.js';

export async function cancelJobs(ids: readonly string[]): Promise<void> {
  await withFleet(async (fleet) => {
    const jobs = await fleet.jobs();
    for (const id of ids) {
      if (!(await jobs.cancel(id))) {
        process.stdout.write(`${id} had ended\n`);
        continue;
      }
      // Everything it has started is gone by then.
      await jobs.wait(id);
      process.stdout.write(`${id} is cancelled\n`);
    }
  });
}

export async function retryJobs(ids: readonly string[]): Promise<void> {
  await withFleet(async (fleet) => {
    const jobs = await fleet.jobs();
    for (const id of ids)
      process.stdout.write((await jobs.retry(id)) ? `${id} is queued\n` : `${id} has not ended\n`);
  });
}

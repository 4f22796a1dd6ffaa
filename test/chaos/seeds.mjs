// What chaos programs share: seeds from the command line, a few workers that take them, and a report of what failed.
import { parseArgs } from 'node:util';

/**
 * Options every chaos program takes, and its own. `run` calls `worker` as often as may run at once; each takes seeds until
 * there are none.
 * @param {{ count: number, concurrency: number, own: import('node:util').ParseArgsConfig['options'] }} program
 */
export function openSeeds({ count, concurrency, own }) {
  const { values } = parseArgs({
    options: {
      from: { type: 'string', default: '1' },
      count: { type: 'string', default: `${count}` },
      concurrency: { type: 'string', default: `${concurrency}` },
      seed: { type: 'string' },
      ...own,
    },
  });
  const from = Number(values.seed ?? values.from);
  const total = values.seed === undefined ? Number(values.count) : 1;
  const queue = Array.from({ length: total }, (_, index) => from + index).values();
  let failures = 0;
  // Each server is ended when this program is, whatever ends it.
  process.setMaxListeners(0);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

  return {
    values: /** @type {Record<string, string | boolean | undefined>} */ (values),

    /** Up to `limit` seeds nobody has taken yet. */
    take: (limit) => {
      const taken = [];
      for (const seed of queue) if (taken.push(seed) === limit) break;
      return taken;
    },

    /** Returns what reports an error of this plan, or of a group of them. */
    failed: (plan) => {
      return (error) => {
        failures += 1;
        const seeds = plan.seed ?? plan.seeds;
        console.error(
          `seed ${seeds} failed: ${error.message}\n  plan: ${JSON.stringify(plan)}\n  ${error.stack}`,
        );
      };
    },

    /** `afterwards` checks what all of them left behind. */
    run: async (worker, afterwards = async () => {}) => {
      const begun = Date.now();
      await Promise.all(Array.from({ length: Number(values.concurrency) }, worker));
      await afterwards();
      const seconds = ((Date.now() - begun) / 1000).toFixed(1);
      console.log(`${total} scenarios from seed ${from}, ${failures} failed, ${seconds} s`);
      process.exitCode = failures === 0 ? 0 : 1;
    },
  };
}

/** Plays these on one subject, checks what they left behind, then stops it. */
export async function playInTurn(plans, subject, { play, failed }) {
  const all = failed({ seeds: plans.map(({ seed }) => seed) });
  const checks = [];
  for (const plan of plans) {
    try {
      if (subject.died) throw new Error(subject.died);
      checks.push(await play(plan));
    } catch (error) {
      failed(plan)(error);
    }
  }
  for (const check of checks) await check().catch(all);
  await subject.stop().catch(all);
}

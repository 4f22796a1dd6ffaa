import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endChild, spawnTracked } from './children.mjs';

const bare = (name) => fileURLToPath(new URL(`../bare/${name}`, import.meta.url));

/** A program of `bench/bare` that times itself: it is told "COUNT BUDGET_MS" and answers with a JSON array of ms. */
export function openSampler({ name, argv }) {
  const child = spawnTracked(argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
  // Ending between two batches is how it is stopped; only a batch minds.
  ended.catch(() => undefined);
  return {
    name,
    sample: async ({ count, budgetMs }) => {
      const answer = once(lines, 'line');
      child.stdin.write(`${count} ${budgetMs}\n`);
      const [line] = await Promise.race([answer, ended]);
      return JSON.parse(line);
    },
    stop: () => endChild(child),
  };
}

/**
 * The same for a script of `bench/bare`, run by this Node.
 * @param {{ name: string, script: string, args?: string[] }} options
 */
export function openNodeSampler({ name, script, args = [] }) {
  return openSampler({ name, argv: [process.execPath, bare(script), ...args] });
}

/** Source of a program of `bench/bare`. */
export const bareSource = bare;

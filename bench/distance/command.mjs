import { once } from 'node:events';
import { spawnTracked } from '../lib/children.mjs';
import { PeakMemory } from './peak-memory.mjs';

/** @typedef {{ seconds: number, clientMb?: number | undefined }} Run */

/**
 * Runs a command to its end with its output counted and thrown away.
 * @param {string[]} argv
 * @param {{ env?: NodeJS.ProcessEnv, outputBytes?: number | undefined }} [expected]
 * @returns {Promise<Run>}
 */
export async function runCommand(argv, { env = process.env, outputBytes = 0 } = {}) {
  // Certificates of one's own make every start of Node slower.
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = env;
  const begun = performance.now();
  const child = spawnTracked(argv, { stdio: ['ignore', 'pipe', 'pipe'], env: rest });
  const peak = new PeakMemory(child.pid);
  let arrived = 0;
  let said = '';
  child.stdout.on('data', (data) => {
    arrived += data.length;
  });
  child.stderr.on('data', (data) => {
    said += data;
  });
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - begun) / 1000;
  const clientMb = peak.stop();
  if (code !== 0) throw new Error(`${argv.slice(0, 4).join(' ')} … ended with ${code}: ${said.slice(-500)}`);
  if (arrived !== outputBytes) throw new Error(`${arrived} bytes arrived instead of ${outputBytes}`);
  return { seconds, clientMb };
}

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Microseconds between two samples. Each costs some 50 of them: what runs for seconds is looked at less often, so that
 * the profile shows the program and not itself.
 */
export const SELDOM_US = 1000;
export const OFTEN_US = 250;

/** Runs `work` with the Node flags that write a profile, and resolves to what it returned and to the profile. */
export async function withProfile(intervalUs, work) {
  const directory = mkdtempSync(join(tmpdir(), 'execwire-profile-'));
  try {
    const flags = ['--cpu-prof', `--cpu-prof-dir=${directory}`, `--cpu-prof-interval=${intervalUs}`];
    const value = await work(flags);
    const [name] = readdirSync(directory);
    if (!name) throw new Error('no profile was written: the program did not end in good order');
    return { value, profile: JSON.parse(readFileSync(join(directory, name), 'utf8')) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Now on the clock of profiles, in microseconds: V8 and Node read the same one. */
export function profileClock() {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Certificates of one's own make every start of Node slower, ours and the bare one. */
export function profiledEnvironment() {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  return env;
}

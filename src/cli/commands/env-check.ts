import { RemoteEnvironment } from '../../client/index.js';
import { loadEnvironments } from '../../environment/providers.js';
import { isExecError } from '../../protocol/errors.js';
import { rounded, roundTripMs as measureRoundTrip } from '../doctor/diagnosis.js';
import { environmentRows } from './env-list.js';
import { paint } from '../terminal/paint.js';
import { formatJson, formatTable } from '../terminal/table.js';
import { closeTarget, isAddress, openTarget } from '../options/target-options.js';

/** Round trips to measure if they are short. The median ignores a single slow one. */
const ROUND_TRIPS = 5;

/** The state of an environment, determined by connecting. */
export interface CheckResult {
  readonly id: string;
  readonly ready: boolean;
  readonly connectMs: number | null;
  /** Null for this machine, which needs no connection. */
  readonly roundTripMs: number | null;
  readonly reason: string | null;
}

/** Checks environments concurrently and prints the results. Returns true if all are ready. */
export async function checkEnvironments(
  targets: readonly string[],
  flags: { json?: boolean; tokenFile?: string },
): Promise<boolean> {
  const chosen = targets.length > 0 ? targets : environmentRows(loadEnvironments()).map(({ id }) => id);
  const results = await Promise.all(chosen.map((id) => checkEnvironment(id, flags)));
  process.stdout.write(flags.json ? formatJson(results) : resultTable(results));
  return results.every(({ ready }) => ready);
}

/** Connects to one environment, measures it and disconnects. */
export async function checkEnvironment(id: string, flags: { tokenFile?: string } = {}): Promise<CheckResult> {
  const { tokenFile } = flags;
  const began = performance.now();
  try {
    const environment = await openTarget({
      environment: id,
      ...(tokenFile === undefined || !isAddress(id) ? {} : { tokenFile }),
    });
    const connectMs = rounded(performance.now() - began);
    try {
      const roundTripMs = environment instanceof RemoteEnvironment ? await roundTrip(environment) : null;
      return { id, ready: true, connectMs, roundTripMs, reason: null };
    } finally {
      await closeTarget(environment);
    }
  } catch (error) {
    return { id, ready: false, connectMs: null, roundTripMs: null, reason: reasonOf(error) };
  }
}

/** Drops the environment's id from the message, because the row already shows it. */
function reasonOf(error: unknown): string {
  const shown = isExecError(error) && 'environmentId' in error.data ? (error.cause ?? error) : error;
  return shown instanceof Error ? shown.message : String(shown);
}

async function roundTrip({ client }: RemoteEnvironment): Promise<number> {
  return rounded(await measureRoundTrip(ROUND_TRIPS, () => client.call('environment/status', null)));
}

function resultTable(results: readonly CheckResult[]): string {
  const table = formatTable(
    ['ID', 'CONNECT', 'ROUND TRIP', 'STATUS'],
    results.map(({ id, connectMs, roundTripMs, reason }) => [
      id,
      connectMs === null ? '-' : `${connectMs} ms`,
      roundTripMs === null ? '-' : `${roundTripMs} ms`,
      reason ?? 'ready',
    ]),
  );
  return table.replaceAll(/\bready$/gm, paint('ready', 'green'));
}

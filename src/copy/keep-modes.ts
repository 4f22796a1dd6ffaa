import type { Environment } from '../contract/index.js';
import { isFileUri, pathBytes } from '../protocol/file-uri.js';
import { Budget } from './budget.js';
import { PERMISSION_BITS } from './permissions.js';

/** Paths per `chmod`; far fewer than fit into a command line. */
const PATHS_AT_A_TIME = 256;

/** A copy, and the permissions of its original. */
export interface KeptMode {
  readonly path: string;
  readonly mode: number;
}

/**
 * Gives copies the permissions of their originals, on machines whose file methods cannot: it runs their `chmod`. If that
 * fails, the files are copied all the same, and a warning is printed.
 */
export async function keepModes(
  environment: Environment,
  copies: readonly KeptMode[],
  { atATime = 1 }: { atATime?: number } = {},
): Promise<void> {
  let failed = 0;
  const room = new Budget(atATime);
  const portions = [...byMode(copies)].flatMap(([mode, paths]) =>
    inPortions(paths).map((some) =>
      room.spend(1, async () => {
        if (!(await chmod(environment, mode, some))) failed += some.length;
      }),
    ),
  );
  await Promise.all(portions);
  if (failed > 0) process.stderr.write(`execwire: the permissions of ${failed} copies could not be set\n`);
}

function inPortions(paths: readonly string[]): string[][] {
  const count = Math.ceil(paths.length / PATHS_AT_A_TIME);
  return Array.from({ length: count }, (_, index) =>
    paths.slice(index * PATHS_AT_A_TIME, (index + 1) * PATHS_AT_A_TIME),
  );
}

function byMode(copies: readonly KeptMode[]): Map<number, string[]> {
  const groups = new Map<number, string[]>();
  for (const { path, mode } of copies) {
    const bits = mode & PERMISSION_BITS;
    const group = groups.get(bits);
    if (group) group.push(path);
    else groups.set(bits, [path]);
  }
  return groups;
}

/** Names that are not UTF-8 cannot be arguments, so they go through stdin. */
async function chmod(environment: Environment, mode: number, paths: readonly string[]): Promise<boolean> {
  const argv = ['chmod', mode.toString(8).padStart(4, '0'), '--'];
  const named = paths.filter((path) => !isFileUri(path));
  const unnamed = paths.filter(isFileUri);
  return (
    (named.length === 0 || (await succeeds(environment, { argv: [...argv, ...named] }))) &&
    (unnamed.length === 0 ||
      (await succeeds(environment, { argv: ['xargs', '-0', ...argv], input: unnamed })))
  );
}

async function succeeds(
  environment: Environment,
  { argv, input }: { argv: readonly string[]; input?: readonly string[] },
): Promise<boolean> {
  try {
    await using child = await environment.start({ argv: [...argv], pipeStdin: input !== undefined });
    for (const path of input ?? []) await child.write(Buffer.concat([pathBytes(path), Buffer.from([0])]));
    if (input) await child.closeStdin();
    const end = await child.wait();
    return end.kind === 'exited' && end.exitCode === 0;
  } catch {
    return false;
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { ChangeDiff, ChangeSet } from '../../contract/index.js';
import { resolvePath } from '../options/copy-location.js';
import { paint } from '../terminal/paint.js';
import { formatJson, printable } from '../terminal/table.js';
import type { ChangesCommandFlags } from './changes.js';
import { withChangeSet } from './changes-target.js';

interface DiffFlags extends ChangesCommandFlags {
  readonly pager: boolean;
}

/** Prints what has changed as a patch; on a terminal in colour and in a pager. */
export async function showDiff(id: string | undefined, flags: DiffFlags): Promise<void> {
  await withChangeSet(id, flags, async (set, environment) => {
    const paths = await Promise.all(flags.path.map((path) => resolvePath(environment, path)));
    if (flags.json) return void process.stdout.write(formatJson(await allDiffs(set, paths)));
    if (!process.stdout.isTTY) return await print(set, paths, (text) => process.stdout.write(text));
    const { output, ended } = flags.pager ? startPager() : { output: process.stdout, ended: undefined };
    await print(set, paths, (text) => output.write(onTerminal(text)));
    if (ended) {
      output.end();
      await ended;
    }
  });
}

async function allDiffs(set: ChangeSet, paths: readonly string[]): Promise<ChangeDiff[]> {
  const all: ChangeDiff[] = [];
  await eachPage(set, paths, (diffs) => void all.push(...diffs));
  return all;
}

async function print(set: ChangeSet, paths: readonly string[], write: (text: string) => void): Promise<void> {
  await eachPage(set, paths, (diffs) => {
    for (const { text } of diffs) write(text);
  });
}

async function eachPage(
  set: ChangeSet,
  paths: readonly string[],
  use: (diffs: readonly ChangeDiff[]) => void,
): Promise<void> {
  const some = paths.length === 0 ? {} : { paths };
  let cursor: string | null = null;
  do {
    const page = await set.diff({ ...some, cursor });
    use(page.diffs);
    cursor = page.cursor;
  } while (cursor !== null);
}

/** Files may contain anything: on a terminal, control characters are shown, not obeyed. */
function onTerminal(text: string): string {
  return text
    .split('\n')
    .map((line) => coloured(printable(line.replaceAll('\t', '        '))))
    .join('\n');
}

function coloured(line: string): string {
  if (/^(diff |index |new |old |deleted |\+\+\+ |--- )/.test(line)) return paint(line, 'bold');
  if (line.startsWith('@@')) return paint(line, 'dim');
  if (line.startsWith('+')) return paint(line, 'green');
  return line.startsWith('-') ? paint(line, 'red') : line;
}

/** What git starts. It quits by itself if everything fits on the screen. */
function startPager(): { output: Writable; ended: Promise<unknown> | undefined } {
  const [program = 'less', ...args] = (process.env.PAGER || 'less').split(' ');
  const pager = spawn(program, args, {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', ...process.env },
  });
  // A user who quits it does not want to read the rest.
  pager.stdin.on('error', () => {});
  const ended = once(pager, 'close').catch(() => {
    process.exitCode = 1;
    process.stderr.write('execwire: The pager could not be started; use --no-pager.\n');
  });
  return { output: pager.stdin, ended };
}

import { createReadStream, existsSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { ExecError, isExecError } from '../../protocol/errors.js';
import { whyUnreadable } from '../../protocol/file-failure.js';
import type { Cues } from '../../recording/index.js';
import { parseDuration } from '../options/option-values.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';

interface PlayFlags extends TargetFlags {
  readonly speed: number;
  readonly idleLimit?: number;
  readonly from?: number;
}

/** `execwire play`: shows a recording as it happened. */
export function playCommand(): Command {
  return withTarget(new Command('play'))
    .summary('play a recording, or what a kept process did')
    .description(
      'Play an asciicast file, or the output of a kept process, at the pace it was recorded.\n\n' +
        'Space pauses and resumes, . shows the next step of a paused recording, q or Ctrl-C quits. Only text and colours reach your terminal, whatever the recording contains. ' +
        'Where stdout is not a terminal, the text is printed at once.',
    )
    .argument('<file|id>', 'a file (- for stdin), or the id of a kept process')
    .option('--speed <n>', 'play this many times as fast', parseSpeed, 1)
    .option('--idle-limit <time>', 'no pause is longer than this', parseDuration)
    .option('--from <time>', 'start at this time, with everything before it already shown', parseDuration)
    .action(play);
}

async function play(source: string, flags: PlayFlags): Promise<void> {
  if (source === '-') return await playCues(await fileCues(process.stdin), flags);
  if (flags.environment === undefined && existsSync(source))
    return await playCues(await fileCues(createReadStream(source)), flags).catch((error: unknown) => {
      throw unreadable(source, error) ?? error;
    });
  const { withServer } = await import('./processes.js');
  const { recordedHistory } = await import('./export-log.js');
  const { historyCues } = await import('../../recording/index.js');
  try {
    await withServer(flags, async (server) => {
      await playCues(historyCues(await recordedHistory(server, source, { follow: false })), flags);
    });
  } catch (error) {
    if (flags.environment !== undefined || !isExecError(error, 'unsupported')) throw error;
    throw new ExecError(
      'notFound',
      `There is no file "${source.slice(0, 64)}". If it is the id of a kept process, name its server: -e ws://…`,
    );
  }
}

function unreadable(path: string, cause: unknown): ExecError | undefined {
  const why = whyUnreadable(cause);
  return why === undefined ? undefined : new ExecError('ioFailed', `Cannot read ${path}: ${why}.`, { cause });
}

async function fileCues(bytes: AsyncIterable<Uint8Array>): Promise<Cues> {
  const { castCues } = await import('../../recording/index.js');
  return castCues(bytes);
}

async function playCues(
  cues: Cues,
  { speed, idleLimit: idleLimitMs, from: fromMs }: PlayFlags,
): Promise<void> {
  const { render, schedule } = await import('../../recording/index.js');
  if (!process.stdout.isTTY) {
    const { printPieces } = await import('./export-log.js');
    return await printPieces(render(cues, 'text'));
  }
  const { Player } = await import('../terminal/player.js');
  {
    using player = new Player();
    await player.play(schedule(cues, { speed, idleLimitMs, fromMs }));
  }
  // There may be much left to read that nobody wants to see.
  process.exit(0);
}

function parseSpeed(text: string): number {
  const speed = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (speed < 0.01 || speed > 1000) throw new InvalidArgumentError('Use a number such as 2 or 0.5.');
  return speed;
}

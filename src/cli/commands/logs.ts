import { Command, Option } from 'commander';
import type { RemoteEnvironment, RemoteProcess } from '../../client/index.js';
import type { ReadResult } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import type { RecordingFormat } from '../../recording/index.js';
import { wholeNumber } from '../options/listen-options.js';
import { parseSince } from '../options/option-values.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';
import { HarmlessText } from '../terminal/harmless-text.js';
import { LastLines } from '../terminal/last-lines.js';
import { write } from '../terminal/print-output.js';
import { findKept } from './kept.js';
import { complainOfLoss, printMatches } from './logs-grep.js';
import { withServer } from './processes.js';

type PastOutput = ReadResult['chunks'][number];
type PastPart = Parameters<RemoteEnvironment['storedOutput']>[1];

interface LogsFlags extends TargetFlags {
  readonly follow?: boolean;
  readonly tail?: number;
  readonly raw?: boolean;
  readonly format?: RecordingFormat;
  readonly since?: number;
  readonly grep?: string;
  readonly ignoreCase?: boolean;
  readonly fixedStrings?: boolean;
  readonly lineNumber?: boolean;
}

/** `execwire logs`: shows the output of a kept process. */
export function logsCommand(): Command {
  return withTarget(new Command('logs'))
    .summary('show the output of a kept process')
    .description(
      'Show what a kept process has printed, as far as the server still has it: stdout on stdout, stderr on stderr.\n\n' +
        'Whatever would do more to your terminal than show text is left out, except colours. ' +
        'Reading never slows the program down.',
    )
    .argument('<id>', 'the id that was printed, or its beginning')
    .option('-f, --follow', 'keep printing new output until it ends')
    .option('--tail <n>', 'only the last lines', wholeNumber)
    .option('--since <time>', 'only what was printed since then: 10m, 2h, 2026-11-16T12:00', parseSince)
    .option('--grep <pattern>', 'only lines that match a regular expression; the server searches them')
    .option('-i, --ignore-case', 'with --grep: ignore case')
    .option('-F, --fixed-strings', 'with --grep: the pattern is plain text')
    .option('-n, --line-number', 'with --grep: show the number of each line')
    .option('--raw', 'every byte as it was printed')
    .addOption(
      new Option('--format <format>', 'all of it as a recording')
        .choices(['asciicast', 'asciicast-v3', 'text', 'html', 'svg', 'svg-animated'])
        .conflicts(['tail', 'raw', 'grep', 'since']),
    )
    .action(logs);
}

async function logs(id: string, flags: LogsFlags): Promise<void> {
  await withServer(flags, async (server) => {
    const { format, follow = false } = flags;
    if (format) return await (await import('./export-log.js')).exportLog(server, id, { format, follow });
    if (flags.grep !== undefined) return await printMatches(server, id, { ...flags, grep: flags.grep });
    const part = { sinceMs: flags.since, lastLines: flags.tail, untilNow: !follow };
    const { child, past } = await outputOf(server, id, part);
    const { print, end } = printer(flags);
    if (flags.tail === undefined) for await (const piece of past) await print(piece);
    else await printTail(past, flags.tail, flags.raw === true);
    if (follow && child)
      for await (const event of child.events())
        if (event.type === 'gap') complainOfLoss(event.lostBytes);
        else if (event.type === 'output') await print({ ...event, lostBytes: 0 });
    await end();
  });
}

/** A process that the server has forgotten may have left its output on disk. */
async function outputOf(
  server: RemoteEnvironment,
  id: string,
  part: PastPart & { untilNow: boolean },
): Promise<{ child?: RemoteProcess; past: AsyncIterable<PastOutput> }> {
  try {
    const { processId } = findKept(await server.kept(), id);
    return await server.attachLate(processId, { mayPause: false, ...part });
  } catch (error) {
    const past = isExecError(error, 'processNotFound') ? await server.storedOutput(id, part) : null;
    if (!past) throw error;
    return { past };
  }
}

/** Two streams may be in the middle of a sequence each. */
function printer({ raw }: LogsFlags): {
  print: (piece: PastOutput) => Promise<void>;
  end: () => Promise<void>;
} {
  const harmless = { out: new HarmlessText(), err: new HarmlessText() };
  return {
    print: async ({ stream, bytes, lostBytes }) => {
      if (lostBytes > 0) complainOfLoss(lostBytes);
      const [target, text] =
        stream === 'stderr' ? [process.stderr, harmless.err] : [process.stdout, harmless.out];
      await write(target, raw ? bytes : text.take(bytes));
    },
    end: async () => {
      await write(process.stdout, harmless.out.end());
      await write(process.stderr, harmless.err.end());
    },
  };
}

async function printTail(past: AsyncIterable<PastOutput>, count: number, raw: boolean): Promise<void> {
  const harmless = new HarmlessText();
  const lines = new LastLines(count);
  // One character per byte, so that raw bytes stay what they are.
  for await (const { bytes } of past)
    lines.add(raw ? Buffer.from(bytes).toString('latin1') : harmless.take(bytes));
  lines.add(harmless.end());
  await write(process.stdout, Buffer.from(lines.text(), raw ? 'latin1' : 'utf8'));
}

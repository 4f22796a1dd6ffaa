import { expect, test } from 'vitest';
import { ProcessLog } from '../../src/contract/index.js';
import { Emulator } from '../../src/screen/emulator.js';
import { ProcessScreen } from '../../src/screen/index.js';
import { render } from '../../src/screen/render.js';
import type { RenderedScreen, RenderJob } from '../../src/screen/screen-state.js';
import { facts } from './terminals.js';

const SIZE = { rows: 24, cols: 80 };
const CHUNK = 16 * 1024;
/** More than is ever parsed at once. */
const FLOOD = 3 * 1024 * 1024;

const LINES = Array.from({ length: 400 }, (_, index) => `line ${index} of a long output\r\n`).join('');
const FRAME = Array.from(
  { length: 24 },
  (_, row) => `\u001b[${row + 1};1H\u001b[Krow ${row} of a frame`,
).join('');

const NEVER: (job: RenderJob) => boolean = () => false;

/** A program that prints while nothing can be rendered, and a terminal that sees all of it. */
class Program {
  readonly log: ProcessLog;
  readonly screen: ProcessScreen;
  readonly terminal = new Emulator(SIZE);
  readonly jobs: RenderJob[] = [];
  #waiting: (() => void)[] | undefined = [];
  readonly #fails: (job: RenderJob) => boolean;

  constructor({ retainedBytes = 1024 * 1024, fails = NEVER, stalls = true } = {}) {
    if (!stalls) this.#waiting = undefined;
    this.log = new ProcessLog({ retainedBytes });
    this.#fails = fails;
    this.screen = new ProcessScreen({
      log: this.log,
      size: SIZE,
      retainedBytes,
      render: (job) => this.#render(job),
    });
    this.log.subscribe(() => this.screen.printed());
  }

  print(text: string, chunk = CHUNK): void {
    const bytes = Buffer.from(text);
    this.terminal.write(bytes);
    for (let at = 0; at < bytes.length; at += chunk)
      this.log.appendOutput('pty', bytes.subarray(at, at + chunk));
  }

  /** What somebody sees who joins now. */
  async joined(): Promise<Emulator> {
    const captured = this.screen.capture();
    for (const go of this.#waiting ?? []) go();
    this.#waiting = undefined;
    const screen = await captured;
    if (!screen) throw new Error('there is no screen');
    const emulator = new Emulator(screen.size);
    emulator.write(screen.bytes);
    return emulator;
  }

  async #render(job: RenderJob): Promise<RenderedScreen | null> {
    this.jobs.push(job);
    await new Promise<void>((go) => (this.#waiting ? this.#waiting.push(go) : go()));
    return this.#fails(job) ? null : render(job);
  }
}

function flood(text: string, bytes = FLOOD): string {
  return text.repeat(Math.ceil(bytes / text.length));
}

/** Nobody can know where a cursor was saved in output that was skipped. */
function lastingFacts(emulator: Emulator): object {
  return { ...(facts(emulator) as object), saved: null, savedBelow: null };
}

const PROGRAMS: Record<string, (program: Program) => void> = {
  'begins full-screen': (program) =>
    program.print(`$ editor\r\n\u001b[?1049h\u001b[?1h\u001b=\u001b[?25l\u001b[?1002;1006h${flood(FRAME)}`),
  'leaves the full screen': (program) => {
    program.print(`\u001b[?1049h\u001b[?2004h${FRAME}`);
    program.print(`${flood(FRAME, 1024 * 1024)}\u001b[?1049l\u001b[?2004l${flood(LINES)}`);
  },
  'sets modes once': (program) =>
    program.print(`\u001b[?2004h\u001b[?1004h\u001b[?1007h\u001b[>4;2m\u001b[4 q\u001b[?7l${flood(LINES)}`),
  'leaves a colour on': (program) => program.print(`\u001b[0;31m\u001b[1m${flood(LINES)}`),
  'draws with other characters': (program) =>
    program.print(`\u001b)0\u000e${flood(`\u001b[H${'lqk\r\n'.repeat(24)}`)}`),
  'scrolls a part of the screen': (program) => program.print(`\u001b[5;10r${flood(`\u001b[10;1H${LINES}`)}`),
  'resets everything': (program) =>
    program.print(`\u001b[?1049h\u001b[?2004h\u001b[31m${flood(FRAME)}\u001bc${flood(LINES)}`),
  'says something very long to the terminal': (program) => program.print(`\u001b]52;c;${flood('aGVsbG8')}`),
  'cuts sequences anywhere': (program) =>
    program.print(`\u001b[?1049h${flood(`${FRAME}\u001b[?25l…`)}`, 4093),
};

test.each(Object.keys(PROGRAMS))('who joins a flood that %s sees the terminal as it is', async (name) => {
  const program = new Program();
  PROGRAMS[name]?.(program);
  expect(lastingFacts(await program.joined())).toEqual(lastingFacts(program.terminal));
});

test('tiny chunks, of which the log keeps only so many, are no different', async () => {
  const program = new Program({ stalls: false });
  program.print(`\u001b[?1049h\u001b[?1000h${FRAME}`);
  for (let turn = 0; turn < 60_000; turn += 1) {
    program.print(String(turn % 10), 1);
    if (turn % 1000 === 0) await new Promise(setImmediate);
  }
  expect(lastingFacts(await program.joined())).toEqual(lastingFacts(program.terminal));
});

test('a log that keeps little loses text, but not the screen', async () => {
  const program = new Program({ retainedBytes: 32 * 1024 });
  program.print(`\u001b[?1049h\u001b[?1000h${flood(FRAME, 200 * 1024)}`, 1024);
  expect(lastingFacts(await program.joined())).toEqual(lastingFacts(program.terminal));
});

test('output that cannot be rendered leaves the screen and its modes', async () => {
  const program = new Program({
    fails: ({ inputs }) => inputs.some((each) => 'bytes' in each && each.bytes.includes(0x21)),
  });
  program.print(`\u001b[?1049h\u001b[?1003h!`);
  await expect(program.joined()).rejects.toThrow('there is no screen');
  program.print(FRAME);
  expect(lastingFacts(await program.joined())).toEqual(lastingFacts(program.terminal));
});

test('a thousand who join at once get one screen', async () => {
  const program = new Program();
  program.print(LINES);
  const [first, ...others] = Array.from({ length: 1000 }, () => program.screen.capture());
  const joined = await program.joined();
  expect(facts(joined)).toEqual(facts(program.terminal));
  const screens = await Promise.all([first, ...others]);
  expect(new Set(screens).size).toBe(1);
  expect(program.jobs.length).toBeLessThan(4);
});

// Needs: top
import xterm, { type Terminal } from '@xterm/headless';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ExecProcess, HistoryEntry } from '../../src/contract/index.js';
import { LocalEnvironment } from '../../src/environment/index.js';
import { castCues, historyCues, RecordedScreen, render, ScreenPainter } from '../../src/recording/index.js';
import { TestFolder } from '../harness/processes.js';
import { inTurn, joined, listed } from './make-history.js';

type Size = Parameters<ExecProcess['resize']>[0];

/** Feeds a terminal and waits until it has drawn. */
function draw(terminal: Terminal, data: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => {
    terminal.write(data, resolve);
  });
}

/** Everything that can be seen of a terminal: cells with their attributes, above the screen as well. */
function cells(terminal: Terminal): string[] {
  const { active } = terminal.buffer;
  return Array.from({ length: active.length }, (_, row) => {
    const line = active.getLine(row);
    return Array.from({ length: terminal.cols }, (_, column) => {
      const cell = line?.getCell(column);
      const look = [cell?.getFgColorMode(), cell?.getFgColor(), cell?.getBgColorMode(), cell?.getBgColor()];
      const flags = [cell?.isBold(), cell?.isInverse(), cell?.isUnderline(), cell?.isDim()];
      return `${cell?.getChars()}/${cell?.getWidth()}/${look.join(',')}/${flags.join(',')}`;
    }).join('|');
  });
}

function newTerminal({ rows, cols }: Size): Terminal {
  return new xterm.Terminal({ rows, cols, scrollback: 1000, allowProposedApi: true });
}

async function fromBytes(history: readonly HistoryEntry[], size: Size): Promise<Terminal> {
  const terminal = newTerminal(size);
  for (const entry of history) {
    if (entry.type === 'output') await draw(terminal, entry.bytes);
    if (entry.type === 'resize') terminal.resize(entry.size.cols, entry.size.rows);
  }
  return terminal;
}

async function fromFile(file: string): Promise<Terminal> {
  let terminal = newTerminal({ rows: 1, cols: 1 });
  for await (const cue of castCues(inTurn([Buffer.from(file)]))) {
    if (cue.type === 'start') terminal = newTerminal(cue.size);
    else if (cue.type === 'resize') terminal.resize(cue.size.cols, cue.size.rows);
    else if (cue.type === 'text') await draw(terminal, cue.text);
  }
  return terminal;
}

/** A person at a terminal: waits for something to appear, then types, changes the size or ends it all. */
type Step = readonly [until: string, then: string | Size | null];

async function record(argv: string[], size: Size, steps: readonly Step[]): Promise<HistoryEntry[]> {
  using folder = new TestFolder();
  await using env = new LocalEnvironment({ spool: { directory: folder.file('spool') } });
  const env_ = { TERM: 'xterm-256color', PS1: '$ ', LC_ALL: 'C.UTF-8', HOME: folder.path, LESSHISTFILE: '-' };
  const process = await env.start({ argv, cwd: folder.path, tty: true, size, env: env_, retain: 'disk' });
  const left = [...steps];
  let seen = '';
  for await (const event of process.events()) {
    if (event.type !== 'output') continue;
    seen += Buffer.from(event.bytes).toString();
    for (let step = left[0]; step && seen.includes(step[0]); step = left[0]) {
      left.shift();
      seen = '';
      if (step[1] === null) await process.terminate();
      else if (typeof step[1] === 'string') await process.write(step[1]);
      else await process.resize(step[1]);
    }
  }
  expect(left).toEqual([]);
  return await listed(process.history());
}

const SIZE = { rows: 20, cols: 70 };

const sessions: Readonly<Record<string, { argv: string[]; steps: Step[]; needs?: string }>> = {
  'a shell with colours, wide characters and a new size': {
    argv: ['bash', '--norc', '-i'],
    steps: [
      ['$ ', 'ls --color=always -la /; printf "\\033[1;32m漢字 e\\u0301 %s\\033[0m\\n" ok\n'],
      ['ok', { rows: 12, cols: 40 }],
      ['$ ', 'seq 200; stty size\n'],
      ['12 40', { rows: 25, cols: 90 }],
      ['$ ', 'printf "\\r50%%\\r100%%\\n"; exit 3\n'],
    ],
  },
  less: {
    argv: ['sh', '-c', 'seq 1000 | less -S'],
    steps: [
      [':', ' '],
      [':', 'G'],
      ['(END)', { rows: 15, cols: 50 }],
      // Not by a key: less loses those that come together with a new size. At once: now and then it draws nothing.
      ['', null],
    ],
    needs: '/usr/bin/less',
  },
  'top, whose terminal is killed': {
    argv: ['sh', '-c', 'top -d 0.2 -n 3; kill -KILL $$'],
    steps: [],
  },
  vim: {
    argv: ['vim', '-n', '-u', 'NONE', '-N'],
    steps: [
      ['~', 'ihello world\u001b'],
      ['world', { rows: 30, cols: 100 }],
      ['~', null],
    ],
    needs: '/usr/bin/vim',
  },
};

/** A history up to each change of size, and all of it: a full-screen program leaves nothing at its end. */
function beginnings(history: readonly HistoryEntry[]): HistoryEntry[][] {
  const cuts = history.flatMap(({ type }, index) => (type === 'resize' ? [index] : []));
  return [...cuts, history.length].map((cut) => history.slice(0, cut));
}

function textOf(terminal: Terminal, rows: number): string[] {
  const { active } = terminal.buffer;
  return Array.from({ length: rows }, (_, row) =>
    (active.getLine(active.baseY + row)?.translateToString(true) ?? '').trimEnd(),
  );
}

/** What our player would show on a large terminal. */
async function fromPlayer(history: readonly HistoryEntry[]): Promise<Terminal> {
  const own = { rows: 40, cols: 120 };
  const screen = new RecordedScreen({ size: SIZE, scrollback: 1000 });
  const painter = new ScreenPainter();
  const shown = newTerminal(own);
  for await (const cue of historyCues(inTurn(history))) {
    if (cue.type === 'resize') screen.resize(cue.size);
    if (cue.type === 'text') await screen.draw(cue.text);
    await draw(shown, painter.frame(screen, own));
  }
  return shown;
}

describe('a recorded session', () => {
  for (const [name, { argv, steps, needs }] of Object.entries(sessions))
    test.skipIf(needs !== undefined && !existsSync(needs))(
      `${name}: looks the same from a file, cell by cell`,
      { timeout: 60_000 },
      async () => {
        let seen = '';
        for (const history of beginnings(await record(argv, SIZE, steps))) {
          const original = await fromBytes(history, SIZE);
          seen += textOf(original, original.rows).join('');
          for (const format of ['asciicast', 'asciicast-v3'] as const) {
            const file = await joined(render(historyCues(inTurn(history)), format));
            expect(cells(await fromFile(file))).toEqual(cells(original));
          }
          const shown = await fromPlayer(history);
          expect(textOf(shown, original.rows)).toEqual(textOf(original, original.rows));
        }
        expect(seen.length).toBeGreaterThan(20);
      },
    );
});

// Needs: top, tmux
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess, TerminalScreen } from '../../src/contract/index.js';
import { Emulator } from '../../src/screen/emulator.js';
import { TestFolder } from '../harness/processes.js';
import { serve } from '../harness/serve.js';
import { cells, facts } from '../screen/terminals.js';

const SIZE = { rows: 30, cols: 100 };

async function open(url: string): Promise<RemoteEnvironment> {
  return await RemoteEnvironment.connect({ id: 'screens', dial: () => dialWebSocket(url), resume: true });
}

/** A terminal that has been given everything from the first byte on, as far as it is wanted. */
class Untouched extends Emulator {
  readonly #events;
  #seq = 0;

  constructor(child: ExecProcess, size = SIZE) {
    super(size);
    this.#events = child.events();
  }

  /** Shows everything up to a number. */
  async showUpTo(seq: number): Promise<void> {
    while (this.#seq < seq) await this.#next();
  }

  /** Goes on until the screen contains a text. */
  async showUntil(text: string | RegExp): Promise<void> {
    for (;;) {
      const shown = cells(this, 'active')
        .join('\n')
        .replaceAll(/\[[0-9;:]*m\||\+/g, '');
      if (typeof text === 'string' ? shown.includes(text) : text.test(shown)) return;
      await this.#next();
    }
  }

  async #next(): Promise<void> {
    const { value, done } = await this.#events.next();
    if (done || value.type === 'gap') throw new Error('There is no more of it.');
    this.#seq = value.seq;
    if (value.type === 'output') this.write(value.bytes);
  }
}

function joinedBy(screen: TerminalScreen | null | undefined): Emulator {
  if (!screen) throw new Error('There is no screen.');
  const emulator = new Emulator(screen.size);
  emulator.write(screen.bytes);
  return emulator;
}

async function start(environment: RemoteEnvironment, script: string): Promise<ExecProcess> {
  const env = { TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' };
  return await environment.start({ argv: ['sh', '-c', script], env, tty: true, size: SIZE, lease: 'kept' });
}

/** Not every machine has every one of these. */
function isHere(name: string): boolean {
  return name.includes(' ') || spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}

const FILE = Array.from({ length: 300 }, (_, line) => `${line} ${'wörter '.repeat(line % 10)}`).join('\n');

const PROGRAMS: Record<
  string,
  { script: string; shows: string | RegExp; keys?: string; afterwards?: string }
> = {
  vi: {
    script: 'exec vi text',
    shows: '28 w',
    keys: 'itwo words\u001b:set number\r',
    afterwards: 'two words',
  },
  less: { script: 'exec less text', shows: '28 w', keys: '50G', afterwards: '60' },
  top: { script: 'exec top -d 0.3', shows: /COMMAND/ },
  tmux: {
    script: 'exec tmux -S socket -f /dev/null new-session "tmux -S socket split-window; exec cat"',
    shows: '─',
    keys: 'hello\r',
    afterwards: 'hello',
  },
  'a shell': { script: 'cat text; exec sh', shows: '299 w', keys: 'echo a$((1+1))b\r', afterwards: 'a2b' },
};

describe('a screen joined late', () => {
  test.each(Object.keys(PROGRAMS).filter(isHere))(
    '%s: every cell is as on a terminal that was there from the start',
    async (name) => {
      const { script, shows, keys, afterwards } = PROGRAMS[name] ?? expect.fail();
      using folder = new TestFolder();
      writeFileSync(folder.file('text'), FILE);
      await using server = await serve();
      await using writer = await open(server.url);
      await using viewer = await open(server.url);
      const child = await start(writer, `cd '${folder.path}'; ${script}`);
      using untouched = new Untouched(child);
      await untouched.showUntil(shows);
      if (keys) await child.write(keys);
      if (afterwards) await untouched.showUntil(afterwards);
      const began = performance.now();
      const view = await viewer.attach(child.processId, { screen: true, keyboard: 'view' });
      expect(performance.now() - began).toBeLessThan(2_000);
      await untouched.showUpTo(view.screen?.afterSeq ?? 0);
      using joined = joinedBy(view.screen);
      expect(facts(joined)).toEqual(facts(untouched));
      await child.terminate();
    },
  );

  test('a program that has printed a lot is joined by its end, and those who follow see the same', async () => {
    await using server = await serve();
    await using writer = await open(server.url);
    await using viewer = await open(server.url);
    const script =
      'i=0; printf "\\033[?2004h\\033[?1h"; while [ $i -lt 150 ]; do head -c 200000 /dev/zero | tr "\\0" x; echo " $i"; i=$((i+1)); done; read x; echo "got $x"';
    const child = await start(writer, script);
    using untouched = new Untouched(child);
    await untouched.showUntil(' 149');
    const view = await viewer.attach(child.processId, { screen: true, keyboard: 'none' });
    await untouched.showUpTo(view.screen?.afterSeq ?? 0);
    using joined = joinedBy(view.screen);
    expect(cells(joined, 'active')).toEqual(cells(untouched, 'active'));
    expect(joined.terminal.modes).toEqual(untouched.terminal.modes);
    await child.write('it\r');
    for await (const event of view.events()) if (event.type === 'output') joined.write(event.bytes);
    await untouched.showUntil('got it');
    expect(cells(joined, 'active')).toEqual(cells(untouched, 'active'));
  });

  test('other sizes on the way are followed', async () => {
    await using server = await serve();
    await using writer = await open(server.url);
    await using viewer = await open(server.url);
    const child = await start(writer, 'printf "%0150d\\n" 1 2 3; read a; printf "%0150d\\n" 4; read b');
    using untouched = new Untouched(child);
    await untouched.showUntil('03');
    const sizes: unknown[] = [];
    const early = await viewer.attach(child.processId, { screen: true, keyboard: 'view' });
    early.watchSize?.((size) => sizes.push(size));
    for (const size of [
      { rows: 20, cols: 160 },
      { rows: 10, cols: 70 },
    ]) {
      await child.resize(size);
      untouched.resize(size);
    }
    await child.write('x\r');
    await untouched.showUntil('04');
    const screen = await early.refresh?.();
    await untouched.showUpTo(screen?.afterSeq ?? 0);
    using joined = joinedBy(screen);
    expect(cells(joined, 'active')).toEqual(cells(untouched, 'active'));
    expect([joined.size, joined.terminal.buffer.active.cursorY]).toEqual([
      untouched.size,
      untouched.terminal.buffer.active.cursorY,
    ]);
    expect(sizes.at(-1)).toEqual({ rows: 10, cols: 70 });
  });

  test('what has no terminal, or too large a one, has no screen, but its output', async () => {
    await using server = await serve();
    await using writer = await open(server.url);
    await using viewer = await open(server.url);
    const plain = await writer.start({ argv: ['echo', 'hello'], lease: 'kept', processId: 'plain' });
    await plain.wait();
    const view = await viewer.attach('plain', { screen: true, keyboard: 'view' });
    expect(view.screen).toBeNull();
    expect(await view.text()).toBe('hello\n');
    const huge = { rows: 10_000, cols: 10_000 };
    const child = await writer.start({
      argv: ['cat'],
      tty: true,
      size: huge,
      lease: 'kept',
      processId: 'huge',
    });
    expect((await viewer.attach('huge', { screen: true, keyboard: 'view' })).screen).toBeNull();
    await child.resize(SIZE);
    await viewer.close();
    await using another = await open(server.url);
    expect((await another.attach('huge', { screen: true, keyboard: 'view' })).screen).toMatchObject({
      size: SIZE,
    });
  });
});

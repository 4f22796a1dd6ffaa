import { describe, expect, test } from 'vitest';
import type { Environment, ExecProcess, ProcessEvent } from '../../src/contract/index.js';
import { gone, stubbornTree, TestFolder } from '../harness/processes.js';
import { sh } from '../../testkit/wire-client.mjs';

/** Opens an environment of this machine, by whatever way. */
export type OpenEnvironment = () => Promise<Environment>;

/** What an environment of another maker does not promise. Each is named where the suite is run, with its reason. */
export interface Exceptions {
  readonly namesSignals?: false;
  /** A terminal is refused then, with a code of its own. */
  readonly terminals?: false;
  readonly resizes?: false;
  readonly closesStdin?: false;
  readonly takesWholeTrees?: false;
  readonly ordersOutputBeforeExit?: false;
}

const decoder = new TextDecoder();

/** Events with their bytes as text, neighbours of one stream joined: how output was cut is nobody's business. */
async function story(process: ExecProcess): Promise<unknown[]> {
  const told: { type: string; text?: string; stream?: string }[] = [];
  for await (const event of process.events()) {
    const last = told.at(-1);
    if (event.type !== 'output') told.push(plain(event));
    else if (last?.stream === event.stream) last.text += decoder.decode(event.bytes);
    else told.push({ type: 'output', stream: event.stream, text: decoder.decode(event.bytes) });
  }
  return told;
}

function plain(event: Exclude<ProcessEvent, { type: 'output' }>): { type: string } {
  return event.type === 'exited'
    ? ({ type: 'exited', exitCode: event.exitCode } as { type: string })
    : { type: event.type };
}

/** What every environment does with processes. */
export function processContract(name: string, open: OpenEnvironment, exceptions: Exceptions = {}): void {
  const holds = (promise: keyof Exceptions): boolean => exceptions[promise] !== false;

  describe(`${name}: processes`, () => {
    test('output, exit and close arrive in this order', async () => {
      await using env = await open();
      const child = await env.start({ argv: sh('echo hi; exit 3') });
      const told = await story(child);
      const expected = [
        { type: 'output', stream: 'stdout', text: 'hi\n' },
        { type: 'exited', exitCode: 3 },
        { type: 'closed' },
      ];
      if (holds('ordersOutputBeforeExit')) expect(told).toEqual(expected);
      else expect(told).toEqual(expect.arrayContaining(expected));
      expect(await child.wait()).toEqual({ kind: 'exited', exitCode: 3 });
    });

    test('numbers have no holes, and a second reader sees the same', async () => {
      await using env = await open();
      const child = await env.start({ argv: sh('for i in 1 2 3 4 5; do echo $i; echo e$i >&2; done') });
      const first: number[] = [];
      for await (const event of child.events()) if ('seq' in event) first.push(event.seq);
      expect(first).toEqual(first.map((_, index) => index + 1));
      const again: number[] = [];
      for await (const event of child.events({ afterSeq: 2 })) if ('seq' in event) again.push(event.seq);
      expect(again).toEqual(first.slice(2));
    });

    test('text, lines and streams', async () => {
      await using env = await open();
      const poem = await env.start({ argv: sh('printf "roses\\r\\nviolets\\nend"; echo no >&2') });
      expect(await poem.text()).toBe('roses\r\nviolets\nend');
      const lines: string[] = [];
      for await (const line of poem.lines()) lines.push(line);
      expect(lines).toEqual(['roses', 'violets', 'end']);
      const pieces: Uint8Array[] = [];
      for await (const piece of poem.stderr) pieces.push(piece);
      expect(Buffer.concat(pieces).toString()).toBe('no\n');
    });

    test('stdin: written in order, closed behind the writes', async () => {
      await using env = await open();
      const lines = Array.from({ length: 100 }, (_, index) => `line ${index}\n`);
      const whole = lines.join('');
      const child = await env.start({
        argv: holds('closesStdin') ? ['cat'] : ['head', '-c', String(whole.length)],
        pipeStdin: true,
      });
      const writes = lines.map((line) => child.write(line));
      if (holds('closesStdin')) await child.closeStdin();
      expect(await child.text()).toBe(whole);
      expect(await Promise.all(writes)).toEqual(lines.map(() => 'accepted'));
    });

    test('a terminal: size, resize, input', async () => {
      await using env = await open();
      const starting = env.start({ argv: sh('stty size; read x; stty size; echo got $x'), tty: true });
      if (!holds('terminals'))
        return await expect(starting).rejects.toMatchObject({ code: 'ptyUnavailable' });
      const child = await starting;
      let screen = '';
      let typed = false;
      for await (const event of child.events()) {
        if (event.type === 'output') screen += decoder.decode(event.bytes);
        if (typed || !screen.includes('24 80')) continue;
        typed = true;
        if (holds('resizes')) await child.resize({ rows: 40, cols: 100 });
        await child.write('word\n');
      }
      expect(screen).toContain(holds('resizes') ? '40 100' : '24 80');
      expect(screen).toContain('got word');
    });

    test('signals, and how a killed process ends', async () => {
      await using env = await open();
      const trapped = await env.start({
        argv: sh('trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.05; done'),
      });
      let seen = '';
      for await (const event of trapped.events()) {
        if (event.type === 'output') seen += decoder.decode(event.bytes);
        if (seen === 'ready\n') await trapped.signal('SIGINT');
      }
      expect(seen).toContain('caught');
      expect(await trapped.wait()).toEqual({ kind: 'exited', exitCode: 7 });
      const killed = await env.start({ argv: ['sleep', '1000'] });
      expect(await killed.terminate()).toBe(true);
      expect(await killed.wait()).toEqual(
        holds('namesSignals')
          ? { kind: 'signalled', exitCode: 137, signal: 'SIGKILL' }
          : { kind: 'exited', exitCode: 137 },
      );
      expect(await killed.terminate()).toBe(false);
    });

    test('a time-out ends the process and is told from an exit', async () => {
      await using env = await open();
      const child = await env.start({ argv: ['sleep', '1000'], timeoutMs: 200 });
      expect(await child.wait()).toMatchObject({ kind: 'timedOut' });
    });

    test('environment and working directory', async () => {
      await using env = await open();
      using folder = new TestFolder();
      const child = await env.start({
        argv: sh('pwd; echo $ADDED; test -n "$PATH" && echo path'),
        cwd: folder.path,
        env: { ADDED: 'yes' },
      });
      expect(await child.text()).toBe(`${folder.path}\nyes\npath\n`);
      const bare = await env.start({ argv: ['/usr/bin/env'], env: { ONLY: 'this' }, envPolicy: null });
      expect(await bare.text()).toBe('ONLY=this\n');
    });

    test('~ is the home directory', async () => {
      await using env = await open();
      const { userHomeDir } = await env.info();
      const child = await env.start({ argv: ['pwd'], cwd: '~' });
      const { pathname } = new URL(userHomeDir ?? 'file:///');
      expect(await child.text()).toBe(`${decodeURIComponent(pathname)}\n`);
    });

    test('a failed start is an error and leaves the id free', async () => {
      await using env = await open();
      await expect(env.start({ argv: ['no-such-program'], processId: 'p' })).rejects.toMatchObject({
        name: 'ExecError',
      });
      const child = await env.start({ argv: ['true'], processId: 'p' });
      expect(child.processId).toBe('p');
      expect(await child.wait()).toEqual({ kind: 'exited', exitCode: 0 });
    });

    test('a slow reader loses nothing', async () => {
      await using env = await open();
      const child = await env.start({ argv: ['head', '-c', '8000000', '/dev/zero'] });
      let received = 0;
      for await (const piece of child.stdout) {
        received += piece.length;
        if (received < 200_000) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(received).toBe(8_000_000);
    });

    test('waiting without reading does not hang, and reading later tells what is gone', async () => {
      await using env = await open();
      const child = await env.start({ argv: ['head', '-c', '8000000', '/dev/zero'] });
      expect(await child.wait()).toEqual({ kind: 'exited', exitCode: 0 });
      let received = 0;
      for await (const event of child.events()) {
        if (event.type === 'output') received += event.bytes.length;
        if (event.type === 'gap') received += event.lostBytes;
      }
      expect(received).toBe(8_000_000);
    });

    test('one process does not wait for another', async () => {
      await using env = await open();
      const stuck = await env.start({ argv: ['sleep', '1000'] });
      void stuck.read({ waitMs: 60_000 }).catch(() => undefined);
      const quick = await env.start({ argv: ['echo', 'done'] });
      expect(await quick.text()).toBe('done\n');
      await stuck.terminate();
    });

    test('the list shows what runs', async () => {
      await using env = await open();
      const child = await env.start({ argv: ['sleep', '1000'], processId: 'listed' });
      expect(await env.list()).toEqual([
        expect.objectContaining({ processId: 'listed', exited: false, closed: false }),
      ]);
      await child.terminate();
      await child.wait();
    });

    test('closing the environment leaves nothing behind', async () => {
      using folder = new TestFolder();
      const mark = `mark-${name.replaceAll(' ', '-')}-${process.pid}-${Date.now()}`;
      // Where only the group is taken along, a child and its own child is all that can be asked for.
      const group = `sh -c 'echo ready > ${folder.file('ready')}; sleep 1000; :' ${mark}; :`;
      {
        await using env = await open();
        await env.start({
          argv: sh(holds('takesWholeTrees') ? stubbornTree(mark, folder.file('ready')) : group),
        });
        await folder.appears('ready');
      }
      await gone(mark);
    });
  });
}

import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { CommandFailure, isCommandFailure } from '../../src/contract/index.js';
import { gone, pidsWithArgument, stubbornTree, TestFolder } from '../harness/processes.js';
import { sh } from '../../testkit/wire-client.mjs';
import type { Exceptions, OpenEnvironment } from './process.contract.js';

const MIB = 1024 * 1024;

/** The error a promise rejects with. */
async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    (value) => expect.fail(`resolved with ${inspect(value)}`),
    (error: unknown) => error,
  );
}

async function taken(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

/** What `run`, `lines` and `$` do in every environment. */
export function runContract(name: string, open: OpenEnvironment, exceptions: Exceptions = {}): void {
  const holds = (promise: keyof Exceptions): boolean => exceptions[promise] !== false;
  const mark = (what: string): string => `${what}-${name.replaceAll(' ', '-')}-${process.pid}-${Date.now()}`;

  describe(`${name}: run`, () => {
    test('a whole result, of success and of failure', async () => {
      await using env = await open();
      using folder = new TestFolder();
      const good = await env.run(sh('pwd; echo "$ADDED" >&2'), { cwd: folder.path, env: { ADDED: 'yes' } });
      expect(good).toEqual({
        stdout: `${folder.path}\n`,
        stderr: 'yes\n',
        exitCode: 0,
        signal: null,
        timedOut: false,
        durationMs: expect.any(Number),
        truncatedBytes: { stdout: 0, stderr: 0 },
        lostBytes: 0,
      });
      expect(good.durationMs).toBeGreaterThanOrEqual(0);
      expect(await env.run(sh('exit 3'))).toMatchObject({ exitCode: 3, signal: null, timedOut: false });
    });

    test('a time-out and a signal are results', async () => {
      await using env = await open();
      const late = await env.run(sh('echo before; sleep 1000'), { timeoutMs: 300 });
      expect(late).toMatchObject({ stdout: 'before\n', timedOut: true });
      const killed = await env.run(sh('kill -9 $$'));
      expect(killed).toMatchObject({ exitCode: 137, signal: holds('namesSignals') ? 'SIGKILL' : null });
    });

    test('a program that is not there is an error', async () => {
      await using env = await open();
      const error = await failureOf(env.run(['no-such-program', 'secret-argument']));
      expect(error).toMatchObject({ name: 'ExecError' });
      expect(inspect(error)).not.toContain('secret-argument');
    });

    test('output beyond the bound is counted, and the program runs to its end', async () => {
      await using env = await open();
      const script = 'head -c 3000000 /dev/zero; echo end >&2; head -c 70 /dev/zero >&2; exit 4';
      const { stdout, stderr, truncatedBytes, exitCode } = await env.run(sh(script), {
        maxOutputBytes: 1000,
        encoding: 'buffer',
      });
      expect(stdout).toEqual(new Uint8Array(1000));
      expect(stderr).toEqual(Uint8Array.from([...Buffer.from('end\n'), ...new Uint8Array(70)]));
      expect({ truncatedBytes, exitCode }).toEqual({
        truncatedBytes: { stdout: 3_000_000 - 1000, stderr: 0 },
        exitCode: 4,
      });
    });

    test('bytes are handed over as they are, text as characters', async () => {
      await using env = await open();
      const argv = ['printf', '\\303\\244\\377'];
      expect((await env.run(argv, { encoding: 'buffer' })).stdout).toEqual(Uint8Array.of(0xc3, 0xa4, 0xff));
      expect((await env.run(argv)).stdout).toBe('ä\ufffd');
      // The bound falls into the second character.
      const cut = await env.run(['printf', 'ää'], { maxOutputBytes: 3 });
      expect(cut).toMatchObject({ stdout: 'ä', truncatedBytes: { stdout: 2, stderr: 0 } });
    });

    test('input of any size and shape reaches the program, and its stdin is closed behind it', async () => {
      await using env = await open();
      if (!holds('closesStdin')) {
        // Without the end of its input a program may wait for ever, so that is refused.
        expect(await failureOf(env.run(['cat'], { input: 'x' }))).toMatchObject({ code: 'unsupported' });
        return;
      }
      expect(await env.run(['cat'], { input: 'a\nb\n' })).toMatchObject({ stdout: 'a\nb\n', exitCode: 0 });
      const large = new Uint8Array(3 * MIB).map((_, index) => index % 251);
      const echoed = await env.run(['cat'], { input: large, encoding: 'buffer' });
      expect(Buffer.compare(echoed.stdout, large)).toBe(0);
      const parts = async function* (): AsyncGenerator<string | Uint8Array> {
        yield 'one ';
        yield Buffer.from('two');
      };
      expect((await env.run(['cat'], { input: parts() })).stdout).toBe('one two');
      expect((await env.run(['cat'], { input: '' })).stdout).toBe('');
    });

    test('a program that does not read its input to the end is no failure', async () => {
      await using env = await open();
      if (!holds('closesStdin')) return;
      const result = await env.run(['head', '-c', '5'], { input: new Uint8Array(8 * MIB).fill(0x61) });
      expect(result).toMatchObject({ stdout: 'aaaaa', exitCode: 0 });
    });

    test('input that fails ends the program and is what the caller hears', async () => {
      await using env = await open();
      using folder = new TestFolder();
      const waiting = mark('input');
      const broken = async function* (): AsyncGenerator<string> {
        yield 'a';
        await folder.appears('ready');
        throw new Error('the source is gone');
      };
      const script = `echo ready > ${folder.file('ready')}; sleep 1000`;
      const running = env.run([...sh(script), waiting], { input: broken() });
      expect(await failureOf(running)).toMatchObject({ message: 'the source is gone' });
      await gone(waiting);
    });

    test('an abort kills the whole tree', async () => {
      await using env = await open();
      using folder = new TestFolder();
      const tree = mark('abort');
      const group = `sh -c 'echo ready > ${folder.file('ready')}; sleep 1000; :' ${tree}; :`;
      const script = holds('takesWholeTrees') ? stubbornTree(tree, folder.file('ready')) : group;
      const abort = new AbortController();
      const running = failureOf(env.run(sh(script), { signal: abort.signal }));
      await folder.appears('ready');
      abort.abort(new Error('enough'));
      expect(await running).toMatchObject({
        name: 'ExecError',
        code: 'aborted',
        cause: expect.objectContaining({ message: 'enough' }),
      });
      // Here the end of the tree is waited for; a server tells the end of the process, and sees to the rest by itself.
      if (name === 'local') expect(pidsWithArgument(tree)).toEqual([]);
      await gone(tree);
    });

    test('an abort that came first starts nothing', async () => {
      await using env = await open();
      using folder = new TestFolder();
      const argv = ['touch', folder.file('made')];
      expect(await failureOf(env.run(argv, { signal: AbortSignal.abort() }))).toMatchObject({
        code: 'aborted',
      });
      expect((await env.run(['ls', folder.path])).stdout).toBe('');
    });

    test('a failure that is asked for carries the result, and shows no argument and no output', async () => {
      await using env = await open();
      const argv = ['/bin/sh', '-c', 'echo secret-output; exit 9', 'secret-argument'];
      const error = await failureOf(env.run(argv, { throwOnFailure: true, env: { TOKEN: 'secret-value' } }));
      expect(error).toBeInstanceOf(CommandFailure);
      expect(error).toMatchObject({ code: 'commandFailed', message: 'sh exited with code 9.' });
      expect(inspect(error, { depth: 9 })).not.toMatch(/secret/);
      expect(isCommandFailure(error) && error.result).toMatchObject({
        stdout: 'secret-output\n',
        exitCode: 9,
      });
      const late = env.run(['sleep', '1000'], { throwOnFailure: true, timeoutMs: 200 });
      expect(await failureOf(late)).toMatchObject({ message: 'sleep did not end in time and was killed.' });
    });

    test('many at a time, one after the other, and none stays in the list', async () => {
      await using env = await open();
      const all = await Promise.all(Array.from({ length: 20 }, (_, n) => env.run(['echo', String(n)])));
      expect(all.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 20 }, (_, n) => `${n}\n`));
      expect((await env.list()).filter(({ closed }) => !closed)).toEqual([]);
    });
  });

  describe(`${name}: lines`, () => {
    test('every line, the last one without an end too', async () => {
      await using env = await open();
      expect(await taken(env.lines(sh('printf "a\\r\\n\\nä\\nlast"; echo no >&2')))).toEqual([
        'a',
        '',
        'ä',
        'last',
      ]);
    });

    test('a program waits for its reader and is killed when that leaves', async () => {
      await using env = await open();
      const endless = mark('lines');
      let count = 0;
      for await (const line of env.lines([...sh('while :; do echo line; done'), endless])) {
        expect(line).toBe('line');
        count += 1;
        if (count === 5000) break;
      }
      expect(count).toBe(5000);
      await gone(endless);
    });

    test('a failure comes behind the last line, unless it is not wanted', async () => {
      await using env = await open();
      const seen: string[] = [];
      const reading = (async () => {
        for await (const line of env.lines(sh('echo one; echo why >&2; exit 2'))) seen.push(line);
      })();
      const error = await failureOf(reading);
      expect(seen).toEqual(['one']);
      expect(isCommandFailure(error) && error.result).toMatchObject({ exitCode: 2, stderr: 'why\n' });
      const quiet = env.lines(sh('echo one; exit 2'), { throwOnFailure: false });
      expect(await taken(quiet)).toEqual(['one']);
    });

    test('a line beyond the bound ends the command', async () => {
      await using env = await open();
      const long = env.lines(sh('echo ok; head -c 5000 /dev/zero; sleep 1000'), { maxLineBytes: 1000 });
      expect(await long.next()).toEqual({ done: false, value: 'ok' });
      expect(await failureOf(long.next())).toMatchObject({
        code: 'lineTooLong',
        data: { maxLineBytes: 1000 },
      });
    });

    test('an abort ends a wait for the next line', async () => {
      await using env = await open();
      const abort = new AbortController();
      const lines = env.lines(sh('echo ready; sleep 1000'), { signal: abort.signal });
      expect(await lines.next()).toEqual({ done: false, value: 'ready' });
      const next = failureOf(lines.next());
      abort.abort();
      expect(await next).toMatchObject({ code: 'aborted' });
    });
  });

  describe(`${name}: $`, () => {
    test('values are arguments as they are, however they look', async () => {
      await using env = await open();
      const nasty = ['a b', '$(touch x)', "'; rm -rf .; '", '*', '', '--flag', 'ä\n'];
      const { stdout } = await env.$`printf ${'%s\\n'} ${nasty}`;
      expect(stdout).toBe(nasty.map((each) => `${each}\n`).join(''));
      expect((await env.$`printf ${'%s|'} pre${'a b'}post ${7}`).stdout).toBe('prea bpost|7|');
    });

    test('options go in front', async () => {
      await using env = await open();
      using folder = new TestFolder();
      const there = env.$({ cwd: folder.path, encoding: 'buffer' });
      expect(Buffer.from((await there`pwd`).stdout).toString()).toBe(`${folder.path}\n`);
      expect(await failureOf(env.$({ throwOnFailure: true })`false`)).toMatchObject({
        code: 'commandFailed',
      });
    });
  });
}

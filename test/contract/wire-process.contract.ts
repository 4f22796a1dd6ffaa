import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { gone, stubbornTree, TestFolder } from '../harness/processes.js';
import { outputOf, sh, startParams } from '../../testkit/wire-client.mjs';
import type { OpenWire } from './wire.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Processes over the wire, statement by statement. */
export function wireProcessContract(name: string, open: OpenWire): void {
  const opened = async () => {
    const wire = await open();
    await wire.client.handshake();
    return wire;
  };

  describe(`${name}: process/start`, () => {
    test('the answer, output, exit and close come in this order and are numbered from 1', async () => {
      await using wire = await opened();
      const { client } = wire;
      expect(await client.call('process/start', startParams('p', ['echo', 'hi']))).toEqual({
        processId: 'p',
        sandboxType: 'none',
      });
      expect(await client.closedEvents('p')).toEqual([
        {
          method: 'process/output',
          params: { processId: 'p', seq: 1, stream: 'stdout', chunk: base64('hi\n') },
        },
        {
          method: 'process/exited',
          params: {
            processId: 'p',
            seq: 2,
            exitCode: 0,
            sandboxDenied: false,
            signal: null,
            timedOut: false,
          },
        },
        { method: 'process/closed', params: { processId: 'p', seq: 3 } },
      ]);
      const answer = client.arrivals.findIndex((each) => 'result' in each && each.result?.processId === 'p');
      expect(client.arrivals.findIndex((each) => 'method' in each)).toBeGreaterThan(answer);
    });

    test('300 short processes: never a hole, never out of order, never before the answer', async () => {
      await using wire = await opened();
      const { client } = wire;
      const ids = Array.from({ length: 300 }, (_, index) => `p${index}`);
      for (const id of ids) {
        client.send(
          JSON.stringify({
            id,
            method: 'process/start',
            params: startParams(id, sh('echo a; echo b >&2'), { tty: id.endsWith('7') }),
          }),
        );
      }
      for (const id of ids) {
        const events = await client.closedEvents(id);
        expect(events.map(({ params }) => params.seq)).toEqual(events.map((_, index) => index + 1));
        expect(events.at(-2)?.method).toBe('process/exited');
        const answerAt = client.arrivals.findIndex((each) => 'id' in each && each.id === id);
        expect(client.arrivals.indexOf(events[0] as (typeof events)[number])).toBeGreaterThan(answerAt);
      }
    });

    test('what cannot be started says why, and the id stays free', async () => {
      await using wire = await opened();
      const { client } = wire;
      const cases: [object, string][] = [
        [startParams('p', ['no-such-program']), 'programNotFound'],
        [startParams('p', ['/no/such/program']), 'programNotFound'],
        [startParams('p', ['']), 'programNotFound'],
        [startParams('p', ['/etc']), 'notExecutable'],
        [startParams('p', ['/etc/hostname']), 'notExecutable'],
        [startParams('p', ['true'], { cwd: 'file:///no/such/folder' }), 'cwdNotFound'],
        [startParams('p', ['true'], { cwd: 'file:///etc/hostname' }), 'cwdNotADirectory'],
        [startParams('p', ['echo', 'a\0b']), 'invalidArgument'],
      ];
      for (const [params, reason] of cases) {
        for (const tty of [false, true]) {
          const { error } = await client.ask('process/start', { ...params, tty });
          expect({ reason, tty, error }).toMatchObject({
            error: { code: -32603, data: { code: 'spawnFailed', reason } },
          });
        }
      }
      await client.call('process/start', startParams('p', ['true']));
      expect(await client.refusal('process/start', startParams('p', ['true']))).toBe(-32600);
    });

    test('ill-shaped requests are -32602', async () => {
      await using wire = await opened();
      const { client } = wire;
      const good = startParams('p', ['true']) as Record<string, unknown>;
      const { env: _, ...withoutEnv } = good;
      const bad = [
        withoutEnv,
        { ...good, argv: [] },
        { ...good, argv: 'true' },
        { ...good, tty: null },
        { ...good, cwd: '/tmp' },
        { ...good, cwd: 'file://elsewhere/tmp' },
        { ...good, cwd: 'http://localhost/' },
        { ...good, envPolicy: { inherit: 'all' } },
        { ...good, sandbox: {} },
        { ...good, metadata: { threadId: 'no uuid', toolCallId: 'x' } },
        { ...good, shellSnapshot: { scopeId: '', shell: { name: 'sh', path: '/bin/sh' } } },
        { ...good, size: { rows: 0, cols: 80 } },
      ];
      for (const params of bad) {
        expect({ params, code: await client.refusal('process/start', params) }).toEqual({
          params,
          code: -32602,
        });
      }
      expect(await client.call('process/list')).toEqual({ processes: [] });
    });

    test('a policy that is not understood is refused, not ignored', async () => {
      await using wire = await opened();
      const permissions = { type: 'managed', file_system: { type: 'nonsense' }, network: 'restricted' };
      expect(
        await wire.client.refusal('process/start', startParams('p', ['true'], { sandbox: { permissions } })),
      ).toBe(-32602);
    });

    test('the environment is exactly the request’s, or the policy’s with the request on top', async () => {
      await using wire = await opened();
      const { client } = wire;
      await client.call('process/start', startParams('exact', ['/usr/bin/env'], { env: { ONLY: 'this' } }));
      expect(outputOf(await client.closedEvents('exact')).toString()).toBe('ONLY=this\n');

      const envPolicy = {
        inherit: 'all',
        ignoreDefaultExcludes: false,
        exclude: ['hom*'],
        set: { FROM_POLICY: '1', LANG: 'x' },
        includeOnly: ['PATH', 'home', 'FROM_*', 'LANG'],
      };
      const env = { LANG: 'C', MY_TOKEN: 'kept', NODE_REPL_AUTH_TOKEN: 'never' };
      await client.call('process/start', startParams('policy', ['/usr/bin/env'], { env, envPolicy }));
      const lines = outputOf(await client.closedEvents('policy'))
        .toString()
        .trim()
        .split('\n')
        .sort();
      expect(lines).toEqual(['FROM_POLICY=1', 'LANG=C', 'MY_TOKEN=kept', expect.stringMatching(/^PATH=/)]);
    });

    test('the program is looked up in the PATH of the child, and arg0 changes its name alone', async () => {
      await using wire = await opened();
      const { client } = wire;
      using folder = new TestFolder();
      const script = '#!/bin/sh\necho found\n';
      writeFileSync(folder.file('only-here'), script, { mode: 0o755 });
      await client.call('process/start', startParams('path', ['only-here'], { env: { PATH: folder.path } }));
      expect(outputOf(await client.closedEvents('path')).toString()).toBe('found\n');
      for (const tty of [false, true]) {
        const id = `arg0-${tty}`;
        await client.call(
          'process/start',
          startParams(id, ['/bin/sh', '-c', 'echo "$0"; tr "\\0" " " </proc/$$/cmdline'], {
            arg0: 'renamed',
            tty,
          }),
        );
        expect(outputOf(await client.closedEvents(id)).toString()).toContain('renamed -c');
      }
    });

    test('a child has its own session and no descriptors of ours', async () => {
      await using wire = await opened();
      const { client } = wire;
      for (const tty of [false, true]) {
        // The fourth descriptor is the directory that `ls` itself has open.
        await client.call('process/start', startParams(`fds-${tty}`, ['ls', '/proc/self/fd'], { tty }));
        expect(
          outputOf(await client.closedEvents(`fds-${tty}`))
            .toString()
            .split(/\s+/)
            .sort()
            .join(' '),
        ).toBe(' 0 1 2 3');
        const ids = ['cut', '-d ', '-f1,5,6', '/proc/self/stat'];
        await client.call('process/start', startParams(`ids-${tty}`, ids, { tty }));
        expect(outputOf(await client.closedEvents(`ids-${tty}`)).toString()).toMatch(/^(\d+) \1 \1\r?\n$/);
      }
    });

    test('stdin is empty unless it is asked for', async () => {
      await using wire = await opened();
      await wire.client.call('process/start', startParams('p', ['cat']));
      expect((await wire.client.closedEvents('p')).map(({ method }) => method)).toEqual([
        'process/exited',
        'process/closed',
      ]);
      expect(await wire.client.call('process/write', { processId: 'p', chunk: '', writeId: '1' })).toEqual({
        status: 'stdinClosed',
      });
    });

    test('a time-out kills the tree and says so', async () => {
      await using wire = await opened();
      await wire.client.call(
        'process/start',
        startParams('p', sh('echo x; sleep 1000 & sleep 1000'), { timeoutMs: 300 }),
      );
      const events = await wire.client.closedEvents('p');
      expect(events.at(-2)?.params).toMatchObject({ exitCode: 137, signal: 'SIGKILL', timedOut: true });
    });
  });

  describe(`${name}: exit codes`, () => {
    test.each([
      ['exit 7', 7, null],
      ['kill -TERM $$', 143, 'SIGTERM'],
      ['kill -KILL $$', 137, 'SIGKILL'],
      ['kill -SEGV $$', 139, 'SIGSEGV'],
      ['kill -INT $$', 130, 'SIGINT'],
    ])('%s', async (script, exitCode, signal) => {
      await using wire = await opened();
      for (const tty of [false, true]) {
        await wire.client.call('process/start', startParams(`p${tty}`, sh(script), { tty }));
        const exited = (await wire.client.closedEvents(`p${tty}`)).find(
          ({ method }) => method === 'process/exited',
        );
        expect(exited?.params).toMatchObject({ exitCode, signal });
      }
    });
  });

  describe(`${name}: process/read`, () => {
    test('reads from a cursor, never consumes, cuts between chunks', async () => {
      await using wire = await opened();
      const { client } = wire;
      using folder = new TestFolder();
      const script = `printf a; until [ -e ${folder.file('go')} ]; do sleep 0.01; done; printf b; exit 4`;
      await client.call('process/start', startParams('p', sh(script)));
      const first = await client.call('process/read', { processId: 'p', waitMs: 10_000 });
      expect(first).toEqual({
        chunks: [{ seq: 1, stream: 'stdout', chunk: base64('a') }],
        nextSeq: 2,
        exited: false,
        exitCode: null,
        closed: false,
        failure: null,
        sandboxDenied: false,
      });
      const waiting = client.call('process/read', { processId: 'p', afterSeq: 1, waitMs: 2 ** 64 });
      writeFileSync(folder.file('go'), 'x');
      expect(await waiting).toMatchObject({ chunks: [{ seq: 2, chunk: base64('b') }] });
      await client.closedEvents('p');
      expect(await client.call('process/read', { processId: 'p' })).toMatchObject({
        chunks: [{ seq: 1 }, { seq: 2 }],
        nextSeq: 5,
        exited: true,
        exitCode: 4,
        closed: true,
      });
      expect(await client.call('process/read', { processId: 'p', maxBytes: 0 })).toMatchObject({
        chunks: [{ seq: 1 }],
        nextSeq: 2,
        closed: true,
      });
      expect(await client.call('process/read', { processId: 'p', maxBytes: 2 })).toMatchObject({
        nextSeq: 3,
      });
      expect(await client.call('process/read', { processId: 'p', afterSeq: 2, waitMs: 1000 })).toMatchObject({
        chunks: [],
        nextSeq: 5,
      });
    });

    test('after an exit was seen, a read waits for the close', async () => {
      await using wire = await opened();
      const { client } = wire;
      using folder = new TestFolder();
      const script = `(until [ -e ${folder.file('go')} ]; do sleep 0.01; done; echo late) & exit 3`;
      await client.call('process/start', startParams('p', sh(script)));
      expect(await client.call('process/read', { processId: 'p', waitMs: 10_000 })).toMatchObject({
        exited: true,
        exitCode: 3,
        closed: false,
        nextSeq: 2,
      });
      const waiting = client.call('process/read', { processId: 'p', afterSeq: 1, waitMs: 10_000 });
      writeFileSync(folder.file('go'), 'x');
      expect(await waiting).toMatchObject({ chunks: [{ seq: 2, chunk: base64('late\n') }], exitCode: 3 });
      expect((await client.closedEvents('p')).map(({ params }) => params.seq)).toEqual([1, 2, 3]);
    });

    test('unknown processes and bad numbers are refused at once', async () => {
      await using wire = await opened();
      expect(await wire.client.refusal('process/read', { processId: 'x', waitMs: 60_000 })).toBe(-32600);
      for (const bad of [-1, 1.5, '1']) {
        expect(await wire.client.refusal('process/read', { processId: 'x', afterSeq: bad })).toBe(-32602);
      }
    });
  });

  describe(`${name}: process/write`, () => {
    test('reaches stdin in order, once per writeId, and closeStdin ends it behind them', async () => {
      await using wire = await opened();
      const { client } = wire;
      client.send(
        JSON.stringify({
          id: 's',
          method: 'process/start',
          params: startParams('p', ['cat'], { pipeStdin: true }),
        }),
      );
      const expected = Array.from({ length: 200 }, (_, index) => `line ${index}\n`);
      for (const [index, line] of expected.entries()) {
        const write = { processId: 'p', chunk: base64(line), writeId: `w${index}` };
        client.send(JSON.stringify({ id: `a${index}`, method: 'process/write', params: write }));
        client.send(JSON.stringify({ id: `b${index}`, method: 'process/write', params: write }));
      }
      client.send(JSON.stringify({ id: 'c', method: 'process/closeStdin', params: { processId: 'p' } }));
      expect(outputOf(await client.closedEvents('p')).toString()).toBe(expected.join(''));
      expect((await client.answerTo('b7')).result).toEqual({ status: 'accepted' });
      expect(
        await client.call('process/write', { processId: 'p', chunk: base64('x'), writeId: 'late' }),
      ).toEqual({ status: 'stdinClosed' });
    });

    test('status and base64', async () => {
      await using wire = await opened();
      const { client } = wire;
      expect(await client.call('process/write', { processId: 'no', chunk: '', writeId: '1' })).toEqual({
        status: 'unknownProcess',
      });
      await client.call('process/start', startParams('p', ['cat'], { pipeStdin: true }));
      for (const chunk of ['YQ', 'Y-==', 'Y_==', 'Y Q=', '*', 'YR==', 'YQ==YQ==']) {
        expect({
          chunk,
          code: await client.refusal('process/write', { processId: 'p', chunk, writeId: '1' }),
        }).toEqual({ chunk, code: -32602 });
      }
      expect(await client.refusal('process/write', { processId: 'p', chunk: '', writeId: '' })).toBe(-32602);
      expect(await client.call('process/write', { processId: 'p', chunk: '', writeId: '1' })).toEqual({
        status: 'accepted',
      });
      await client.call('process/terminate', { processId: 'p' });
    });

    test('a program that does not read delays nothing but its own writes', async () => {
      await using wire = await opened();
      const { client } = wire;
      for (const tty of [false, true]) {
        const id = `deaf-${tty}`;
        await client.call(
          'process/start',
          startParams(id, sh(tty ? 'stty raw -echo; sleep 1000' : 'sleep 1000'), { tty, pipeStdin: true }),
        );
        const chunk = Buffer.alloc(65_536, 'x').toString('base64');
        const writes = Array.from({ length: 40 }, (_, index) =>
          client.ask('process/write', { processId: id, chunk, writeId: `${index}` }),
        );
        expect(await client.call('environment/status')).toEqual({ status: 'ready' });
        expect(await client.call('process/terminate', { processId: id })).toEqual({ running: true });
        await client.closedEvents(id);
        await Promise.all(writes);
      }
    });

    test('past the limit a write is refused with nothing written', async () => {
      await using wire = await opened();
      const { client } = wire;
      await client.call('process/start', startParams('p', sh('sleep 1000'), { pipeStdin: true }));
      const chunk = Buffer.alloc(1024 * 1024, 'x').toString('base64');
      const writes = Array.from({ length: 20 }, (_, index) =>
        client.ask('process/write', { processId: 'p', chunk, writeId: `${index}` }),
      );
      expect((await Promise.race(writes.slice(-1)))?.error).toMatchObject({
        code: -32001,
        data: { code: 'stdinFull' },
      });
      expect(await client.call('process/terminate', { processId: 'p' })).toEqual({ running: true });
      await Promise.all(writes);
    });
  });

  describe(`${name}: terminals`, () => {
    test('24 x 80 unless asked, resize, and ^D ends cat', async () => {
      await using wire = await opened();
      const { client } = wire;
      await client.call(
        'process/start',
        startParams('p', sh('stty size; read x; stty size; cat'), { tty: true }),
      );
      await client.until(() => client.output('p').toString().includes('24 80'));
      await client.call('process/resize', { processId: 'p', size: { rows: 50, cols: 132 } });
      await client.call('process/write', { processId: 'p', chunk: base64('\n'), writeId: '1' });
      await client.until(() => client.output('p').toString().includes('50 132'));
      await client.call('process/closeStdin', { processId: 'p' });
      const events = await client.closedEvents('p');
      expect(events.at(-2)?.params).toMatchObject({ exitCode: 0 });
      expect(
        new Set(events.filter(({ params }) => params.stream).map(({ params }) => params.stream)),
      ).toEqual(new Set(['pty']));
      await client.call(
        'process/start',
        startParams('sized', sh('stty size'), { tty: true, size: { rows: 3, cols: 9 } }),
      );
      expect(outputOf(await client.closedEvents('sized')).toString()).toBe('3 9\r\n');
      await client.call('process/start', startParams('pipe', ['cat'], { pipeStdin: true }));
      expect(await client.refusal('process/resize', { processId: 'pipe', size: { rows: 1, cols: 1 } })).toBe(
        -32600,
      );
      await client.call('process/terminate', { processId: 'pipe' });
    });

    test('^C interrupts the foreground job', async () => {
      await using wire = await opened();
      const { client } = wire;
      await client.call(
        'process/start',
        startParams('p', sh('trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.05; done'), {
          tty: true,
        }),
      );
      await client.until(() => client.output('p').toString().includes('ready'));
      await client.call('process/write', { processId: 'p', chunk: base64('\x03'), writeId: '1' });
      const events = await client.closedEvents('p');
      expect(outputOf(events).toString()).toContain('caught');
      expect(events.at(-2)?.params).toMatchObject({ exitCode: 5 });
    });
  });

  describe(`${name}: signals and ends`, () => {
    test('every signal by name, interrupt, and nothing for those who are gone', async () => {
      await using wire = await opened();
      const { client } = wire;
      for (const [signal, name_] of [
        ['interrupt', 'INT'],
        ['SIGTERM', 'TERM'],
        ['SIGUSR1', 'USR1'],
      ] as const) {
        const script = `trap "echo got ${name_}; exit 9" ${name_}; echo ready; while :; do sleep 0.05; done`;
        await client.call('process/start', startParams(signal, sh(script)));
        await client.until(() => client.output(signal).toString().includes('ready'));
        expect(await client.call('process/signal', { processId: signal, signal })).toEqual({});
        expect(outputOf(await client.closedEvents(signal)).toString()).toContain(`got ${name_}`);
        expect(await client.call('process/signal', { processId: signal, signal })).toEqual({});
      }
      expect(await client.call('process/signal', { processId: 'unknown', signal: 'SIGTERM' })).toEqual({});
      expect(await client.refusal('process/signal', { processId: 'x', signal: 'SIGNONSENSE' })).toBe(-32602);
      expect(await client.refusal('process/signal', { processId: 'x', signal: 'TERM' })).toBe(-32602);
    });

    test('terminate takes the whole tree, whoever left the group or the session', async () => {
      await using wire = await opened();
      const { client } = wire;
      using folder = new TestFolder();
      const mark = `mark-${process.pid}-${Date.now()}`;
      await client.call('process/start', startParams('p', sh(stubbornTree(mark, folder.file('ready')))));
      await folder.appears('ready');
      expect(await client.call('process/terminate', { processId: 'p' })).toEqual({ running: true });
      const events = await client.closedEvents('p');
      expect(events.at(-2)?.params).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
      await gone(mark);
      expect(await client.call('process/terminate', { processId: 'p' })).toEqual({ running: false });
      expect(await client.call('process/terminate', { processId: 'unknown' })).toEqual({ running: false });
    });

    test('members that outlive the direct child can be signalled and terminated', async () => {
      await using wire = await opened();
      const { client } = wire;
      const survivor = '(trap "echo signalled" USR1; echo ready; while :; do sleep 0.05; done) & exit 0';
      await client.call('process/start', startParams('p', sh(survivor)));
      await client.until(() => client.events('p').some(({ method }) => method === 'process/exited'));
      await client.until(() => client.output('p').toString().includes('ready'));
      await client.call('process/signal', { processId: 'p', signal: 'SIGUSR1' });
      await client.until(() => client.output('p').toString().includes('signalled'));
      expect(await client.call('process/terminate', { processId: 'p' })).toEqual({ running: true });
      expect((await client.closedEvents('p')).at(-1)?.method).toBe('process/closed');
    });

    test('a grace period lets a program clean up, and kills it when it does not', async () => {
      await using wire = await opened();
      const { client } = wire;
      await client.call(
        'process/start',
        startParams('polite', sh('trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.05; done')),
      );
      await client.call(
        'process/start',
        startParams('rude', sh('trap "" TERM; echo ready; while :; do sleep 0.05; done')),
      );
      for (const id of ['polite', 'rude']) {
        await client.until(() => client.output(id).toString().includes('ready'));
        expect(await client.call('process/terminate', { processId: id, graceMs: 300 })).toEqual({
          running: true,
        });
      }
      const polite = await client.closedEvents('polite');
      expect(outputOf(polite).toString()).toContain('bye');
      expect(polite.at(-2)?.params).toMatchObject({ exitCode: 0 });
      expect((await client.closedEvents('rude')).at(-2)?.params).toMatchObject({ exitCode: 137 });
    });

    test('start, writes, resize and terminate sent in one breath take effect in that order', async () => {
      await using wire = await opened();
      const { client } = wire;
      for (let round = 0; round < 20; round += 1) {
        const processId = `p${round}`;
        const say = (id: string, method: string, params: object): void =>
          client.send(JSON.stringify({ id: `${processId}${id}`, method, params: { processId, ...params } }));
        say('a', 'process/start', startParams(processId, ['cat'], { tty: true }));
        say('b', 'process/resize', { size: { rows: 10, cols: 10 } });
        say('c', 'process/write', { chunk: base64('x\n'), writeId: '1' });
        say('d', 'process/terminate', {});
        expect((await client.answerTo(`${processId}a`)).result).toMatchObject({ processId });
        expect((await client.answerTo(`${processId}b`)).result).toEqual({});
        expect((await client.answerTo(`${processId}c`)).result).toEqual({ status: 'accepted' });
        expect((await client.answerTo(`${processId}d`)).result).toEqual({ running: true });
        await client.closedEvents(processId);
      }
    });

    test('a long read holds up nobody', async () => {
      await using wire = await opened();
      const { client } = wire;
      await client.call('process/start', startParams('p', sh('sleep 1000')));
      const reads = [1, 2, 3].map(() => client.call('process/read', { processId: 'p', waitMs: 60_000 }));
      expect(await client.call('environment/status')).toEqual({ status: 'ready' });
      expect(await client.call('process/terminate', { processId: 'p' })).toEqual({ running: true });
      for (const read of await Promise.all(reads)) expect(read).toMatchObject({ exited: true });
    });

    test('process/list shows what there is', async () => {
      await using wire = await opened();
      const { client } = wire;
      await client.call('process/start', startParams('a', ['sleep', '1000'], { tty: true }));
      await client.call('process/start', startParams('b', ['true']));
      await client.closedEvents('b');
      const { processes } = await client.call('process/list');
      expect(processes).toEqual([
        {
          processId: 'a',
          pid: expect.any(Number),
          argv: ['sleep', '1000'],
          tty: true,
          startedAtMs: expect.any(Number),
          exited: false,
          exitCode: null,
          closed: false,
        },
        {
          processId: 'b',
          pid: expect.any(Number),
          argv: ['true'],
          tty: false,
          startedAtMs: expect.any(Number),
          exited: true,
          exitCode: 0,
          closed: true,
        },
      ]);
      await client.call('process/terminate', { processId: 'a' });
    });
  });
}

import { chmodSync, copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfinedServer, withSystemProgram } from '../harness/confined-server.js';
import { openFiles } from '../harness/limits.js';
import { outputOf, sh, type WireAnswer, type WireClient } from '../../testkit/wire-client.mjs';
import { identities, Place } from '../host/sandbox/harness.js';

/** Sends requests without waiting for any answer between them. */
function pipeline(client: WireClient, requests: readonly [string, object][]): Promise<WireAnswer[]> {
  return Promise.all(requests.map(([method, params]) => client.ask(method, params)));
}

/** Where a place has the true one. */
const trueBubblewrap = (place: Place): string => join(place.outside, 'true-bwrap');

/** A machine whose bubblewrap works until it is asked for a real sandbox. */
function breakBubblewrap(place: Place, failure: string): string[] {
  copyFileSync('/usr/bin/bwrap', trueBubblewrap(place));
  const path = join(place.outside, 'bwrap');
  const script = `#!/bin/sh\ncase "$*" in *--args*) ${failure};; esac\nexec ${trueBubblewrap(place)} "$@"\n`;
  writeFileSync(path, script, { mode: 0o755 });
  return withSystemProgram('bwrap', path);
}

describe.each(identities)('starts in a sandbox as $name', (identity) => {
  test('requests right behind one wait for it and keep their order', async () => {
    await using host = await ConfinedServer.start(identity);
    const p = { processId: 'p' };
    const chunk = (text: string) => Buffer.from(text).toString('base64');
    const answers = await pipeline(host.client, [
      ['process/start', host.params('p', ['cat'], { pipeStdin: true })],
      ['process/read', { ...p, afterSeq: 0 }],
      ['process/write', { ...p, chunk: chunk('one '), writeId: '1' }],
      ['process/write', { ...p, chunk: chunk('two'), writeId: '2' }],
      ['process/closeStdin', p],
      ['process/inspect', p],
    ]);
    expect(answers.map(({ error, result }) => error ?? result)).toEqual([
      { processId: 'p', sandboxType: 'linuxSeccomp' },
      expect.objectContaining({ exited: false, failure: null }),
      { status: 'accepted' },
      { status: 'accepted' },
      {},
      { state: null },
    ]);
    const events = await host.client.closedEvents('p');
    expect(outputOf(events).toString()).toBe('one two');
    // The answer to the start is the first thing anybody hears of the process.
    const { arrivals } = host.client;
    const answer = arrivals.findIndex((each) => 'result' in each && each.result?.processId === 'p');
    expect(answer).toBeLessThan(arrivals.findIndex((each) => 'method' in each));
    expect(events.map(({ params }) => params.seq)).toEqual(events.map((_, index) => index + 1));
  });

  test('a signal and a terminate right behind one reach the program', async () => {
    await using host = await ConfinedServer.start(identity);
    const { client } = host;
    await pipeline(client, [
      ['process/start', host.params('s', ['sleep', '1000'])],
      ['process/signal', { processId: 's', signal: 'SIGTERM' }],
    ]);
    const [exited] = await client.closedEvents('s');
    expect(exited?.params).toMatchObject({ exitCode: 143 });
    const [, terminated] = await pipeline(client, [
      ['process/start', host.params('t', ['sleep', '1000'])],
      ['process/terminate', { processId: 't' }],
    ]);
    expect(terminated?.result).toEqual({ running: true });
    await client.closedEvents('t');
  });

  test('requests behind one that fails get its error, and the id is free for the next', async () => {
    const place = new Place(identity);
    const [first, go] = [join(place.outside, 'first'), join(place.outside, 'go')];
    // The first sandbox fails, but not before it is told to.
    const fail = `until [ -e ${go} ]; do sleep 0.01; done; exec ${trueBubblewrap(place)} --ro-bind /no/such/source /mnt "$@"`;
    const wrapper = breakBubblewrap(place, `if mkdir ${first} 2>/dev/null; then ${fail}; fi`);
    await using host = await ConfinedServer.start(identity, { place, wrapper });
    const p = { processId: 'p' };
    const answering = pipeline(host.client, [
      ['process/start', host.params('p', ['true'])],
      ['process/read', { ...p, waitMs: 1000 }],
      ['process/write', { ...p, chunk: '', writeId: '1' }],
      ['process/signal', { ...p, signal: 'SIGTERM' }],
      ['process/resize', { ...p, size: { rows: 1, cols: 1 } }],
      ['process/closeStdin', p],
      ['process/inspect', p],
      ['process/terminate', p],
      ['process/start', host.params('p', ['true'])],
      ['process/read', { ...p, waitMs: 1000 }],
    ]);
    // Requests are taken in order: all of them have arrived when this one is answered.
    await host.client.call('environment/status');
    writeFileSync(go, '');
    const answers = await answering;
    const failure = expect.objectContaining({ code: 'sandboxUnavailable', reason: 'setupFailed' });
    expect(answers.slice(0, 8).map(({ error }) => error?.data)).toEqual(
      Array.from({ length: 8 }, () => failure),
    );
    expect(answers[8]?.result).toEqual({ processId: 'p', sandboxType: 'linuxSeccomp' });
    expect(answers[9]?.error).toBeUndefined();
    await host.client.closedEvents('p');
  });

  test('a sandbox that cannot be set up is a failed start, not an exit', async () => {
    const place = new Place(identity);
    const failure = `exec ${trueBubblewrap(place)} --ro-bind /no/such/source /mnt "$@"`;
    const wrapper = breakBubblewrap(place, failure);
    await using host = await ConfinedServer.start(identity, { place, wrapper });
    for (const tty of [false, true]) {
      const { error } = await host.client.ask('process/start', host.params('p', ['true'], { tty }));
      expect(error).toMatchObject({
        code: -32603,
        message: expect.stringMatching(/^The sandbox could not be set up: .*\/no\/such\/source/),
        data: { code: 'sandboxUnavailable', reason: 'setupFailed', hint: expect.any(String) },
      });
    }
    expect(host.client.events('p')).toEqual([]);
    expect(await host.client.call('process/list')).toEqual({ processes: [] });
    expect(readdirSync(place.workspace)).toEqual([]);
  });

  test('a sandbox that is killed before its program runs is one, too', async () => {
    const place = new Place(identity);
    const wrapper = breakBubblewrap(place, 'kill -KILL $$');
    await using host = await ConfinedServer.start(identity, { place, wrapper });
    const { error } = await host.client.ask('process/start', host.params('p', ['true']));
    expect(error?.data).toMatchObject({ code: 'sandboxUnavailable', reason: 'setupFailed' });
  });

  test('a program that only turns out to be none inside is the same error as outside', async () => {
    await using host = await ConfinedServer.start(identity);
    const { workspace } = host.place;
    copyFileSync('/bin/true', join(workspace, 'program'));
    chmodSync(join(workspace, 'program'), 0o755);
    // Nothing but the workspace exists inside, so neither does the loader the program names.
    const entries = [{ path: { type: 'path', path: pathToFileURL(workspace).href }, access: 'write' }];
    const permissions = {
      type: 'managed',
      file_system: { type: 'restricted', entries },
      network: 'restricted',
    };
    const { error } = await host.client.ask(
      'process/start',
      host.params('p', ['./program'], { sandbox: { permissions } }),
    );
    expect(error).toMatchObject({
      code: -32603,
      data: { code: 'spawnFailed', reason: 'notExecutable', errno: 'ENOENT' },
    });
  });

  test.each([
    ['a value', { env: { PATH: '/usr/bin:/bin', A: 'x\0--dev-bind\0/\0/' } }],
    ['the name of a variable', { env: { PATH: '/usr/bin:/bin', 'A\0x\0--dev-bind\0/\0/\0--setenv\0B': '' } }],
    ['the name a program sees', { arg0: 'x\0--dev-bind\0/\0/' }],
    ['an argument', { argv: ['true', 'x\0--dev-bind\0/\0/'] }],
  ])('what is behind a NUL in %s is no option of the sandbox', async (_what, more) => {
    await using host = await ConfinedServer.start(identity);
    const { error } = await host.client.ask('process/start', { ...host.params('p', ['true']), ...more });
    expect(error?.data).toMatchObject({ code: 'spawnFailed', reason: 'invalidArgument' });
  });

  test('ones that are refused or fail leave no descriptor and no name behind', async () => {
    await using host = await ConfinedServer.start(identity);
    const { client, server, place } = host;
    await client.call('process/start', host.params('held', ['sleep', '1000']));
    await client.ask('process/start', host.params('held', ['true']));
    const before = openFiles(server.pid);
    for (let round = 0; round < 20; round += 1) {
      const taken = await client.ask('process/start', host.params('held', ['true']));
      expect(taken.error?.data).toMatchObject({ code: 'processIdInUse' });
      expect(await client.refusal('process/start', host.params('p', ['no-such-program']))).toBe(-32603);
    }
    // Some are closed in the background; a leak would be forty of them.
    await expect.poll(() => openFiles(server.pid)).toBeLessThan(before + 10);
    await client.call('process/terminate', { processId: 'held' });
    await client.closedEvents('held');
    await expect.poll(() => readdirSync(place.workspace)).toEqual([]);
  });

  test('output that comes while it starts is complete', async () => {
    await using host = await ConfinedServer.start(identity);
    // More than the log keeps for nobody: it must be held from the first byte on.
    const { text, exit } = await host.run(sh('head -c 3000000 /dev/zero | tr "\\0" x; echo end'));
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(text.length).toBe(3_000_004);
  });
});

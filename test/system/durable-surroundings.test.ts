// Needs: bwrap, curl
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExecProcess } from '../../src/contract/index.js';
import { openEnvironment } from '../../src/index.js';
import { sh } from '../../testkit/wire-client.mjs';
import { DurableServer } from '../harness/durable-server.js';
import { TestFolder } from '../harness/processes.js';
import { runUpgrade } from '../harness/upgrade.js';
import { holdingPolicy } from '../host/changes/harness.js';

const SLOW = { timeout: 90_000 };

type Replace = (server: DurableServer) => Promise<void> | void;
const REPLACEMENTS: readonly { how: string; replace: Replace }[] = [
  { how: 'dies', replace: (server) => server.kill() },
  {
    how: 'is replaced',
    replace: async (server) => expect(await runUpgrade(server.url)).toMatchObject({ code: 0 }),
  },
];

/** Answers with one word. */
function site(word: string): ReturnType<typeof createServer> {
  return createServer((_, response) => response.end(word)).listen(0, '127.0.0.1');
}

const [open, secret] = [site('open'), site('secret')];
let [openPort, secretPort] = [0, 0];
beforeAll(async () => {
  await Promise.all([open, secret].map(async (each) => each.listening || (await once(each, 'listening'))));
  [openPort, secretPort] = [open, secret].map((each) => (each.address() as AddressInfo).port) as [
    number,
    number,
  ];
});
afterAll(() => {
  for (const each of [open, secret]) each.close();
});

/** A program that answers lines with lines. */
class Dialog {
  readonly program: ExecProcess;
  readonly #events: AsyncIterator<unknown>;
  #text = '';

  constructor(program: ExecProcess) {
    this.program = program;
    this.#events = program.events()[Symbol.asyncIterator]();
  }

  async ask(line: string): Promise<string> {
    await this.program.write(`${line}\n`);
    return await this.line();
  }

  async line(): Promise<string> {
    while (!this.#text.includes('\n')) {
      const { value, done } = await this.#events.next();
      if (done) throw new Error(`the program ended: ${this.#text}`);
      const event = value as { type: string; bytes?: Uint8Array };
      if (event.type === 'output') this.#text += Buffer.from(event.bytes ?? []).toString();
    }
    const end = this.#text.indexOf('\n');
    const line = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 1);
    return line;
  }
}

/** Says what a host answers, and how the attempt to go there ended. */
const FETCH =
  'set -f; while read -r url more; do said=$(curl -s -m 20 $more "$url"); echo "$said $?"; done; exit 4';
/** The proxy has an answer of its own for what is not allowed. */
const DENIED = /^{"status":"blocked".* 0$/;
const NO_ROUTE = ' 7';

describe.each(REPLACEMENTS)('when the server $how, a program under rules for hosts', ({ replace }) => {
  test('goes on, with the same rules', SLOW, async () => {
    await using server = await DurableServer.start();
    const door = new URL(server.url).host;
    await using environment = await openEnvironment(server.url, {
      sandbox: { policy: 'read-only', network: { allow: [`127.0.0.1:${openPort}`, door] } },
    });
    const start = (argv: string[]): Promise<ExecProcess> =>
      environment.start({ argv, cwd: '/', pipeStdin: true });
    const fetcher = new Dialog(await start(sh(FETCH)));
    const place = sh('readlink /proc/self/ns/net; read -r end');
    const neighbour = new Dialog(await start(place));
    const network = await neighbour.line();
    const reaches = async (): Promise<void> => {
      expect(await fetcher.ask(`http://127.0.0.1:${openPort}`)).toBe('open 0');
      expect(await fetcher.ask(`http://127.0.0.1:${secretPort}`)).toMatch(DENIED);
      expect(await fetcher.ask(`http://127.0.0.1:${openPort} --noproxy *`)).toBe(NO_ROUTE);
      // Whatever the rules say.
      expect(await fetcher.ask(`http://${door}`)).toMatch(DENIED);
    };
    await reaches();
    for (let round = 0; round < 2; round += 1) {
      await replace(server);
      await reaches();
      // Programs with the same rules reach each other, whichever server has started them.
      expect(await new Dialog(await start(place)).line()).toBe(network);
    }
    await fetcher.program.closeStdin();
    expect(await fetcher.program.wait()).toMatchObject({ kind: 'exited', exitCode: 4 });
  });

  test('asks again whoever was asked before', SLOW, async () => {
    await using server = await DurableServer.start();
    const asked: string[] = [];
    await using environment = await openEnvironment(server.url, {
      sandbox: { policy: 'read-only', network: { allow: [], ask: true } },
      onNetworkRequest: async ({ host }) => {
        asked.push(host);
        return 'deny' as const;
      },
    });
    const fetcher = new Dialog(await environment.start({ argv: sh(FETCH), cwd: '/', pipeStdin: true }));
    expect(await fetcher.ask('http://one.example')).toContain('declined');
    await replace(server);
    expect(await fetcher.ask('http://one.example')).toContain('declined');
    expect(asked).toEqual(['one.example', 'one.example']);
  });
});

describe.each(REPLACEMENTS)('when the server $how, a program whose changes are held', ({ replace }) => {
  test('goes on, and so does its set', SLOW, async () => {
    using folder = new TestFolder();
    const [workspace, sets] = [folder.file('workspace'), folder.file('sets')];
    mkdirSync(workspace);
    await using server = await DurableServer.start({ args: ['--changes-dir', sets] });
    await using environment = await openEnvironment(server.url);
    const sandbox = holdingPolicy([workspace], 'task');
    const argv = sh('while read -r line; do echo "$line" >> notes; wc -l < notes; done; exit 3');
    const start = { argv, cwd: workspace, pipeStdin: true, sandbox };
    const writer = new Dialog(await environment.start(start));
    expect(await writer.ask('one')).toBe('1');
    await replace(server);
    expect(await writer.ask('two')).toBe('2');
    const another = new Dialog(await environment.start(start));
    expect(await another.ask('three')).toBe('3');
    await replace(server);
    expect(await writer.ask('four')).toBe('4');
    expect(await another.ask('five')).toBe('5');
    expect(existsSync(`${workspace}/notes`)).toBe(false);
    await expect(environment.changes('task').apply()).rejects.toMatchObject({ code: 'changesInUse' });
    for (const each of [writer, another]) {
      await each.program.closeStdin();
      expect(await each.program.wait()).toMatchObject({ kind: 'exited', exitCode: 3 });
    }
    await environment.changes('task').apply();
    expect(readFileSync(`${workspace}/notes`, 'utf8')).toBe('one\ntwo\nthree\nfour\nfive\n');
    await environment.changes('task').discard();
    expect(readdirSync(sets).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  test('leaves its set, however it ended meanwhile', SLOW, async () => {
    using folder = new TestFolder();
    const [workspace, sets] = [folder.file('workspace'), folder.file('sets')];
    mkdirSync(workspace);
    await using server = await DurableServer.start({ args: ['--changes-dir', sets] });
    await using environment = await openEnvironment(server.url);
    const sandbox = holdingPolicy([workspace], 'task');
    const program = await environment.start({
      argv: sh('echo written > file; sleep 0.2; exit 6'),
      cwd: workspace,
      sandbox,
    });
    await replace(server);
    expect(await program.wait()).toMatchObject({ kind: 'exited', exitCode: 6 });
    await environment.changes('task').apply();
    expect(readFileSync(`${workspace}/file`, 'utf8')).toBe('written\n');
  });

  test('is ended by the next server when its set is full', SLOW, async () => {
    using folder = new TestFolder();
    const [workspace, sets] = [folder.file('workspace'), folder.file('sets')];
    mkdirSync(workspace);
    const args = ['--changes-dir', sets, '--changes-bytes', String(16 * 1024 * 1024)];
    await using server = await DurableServer.start({ args });
    await using environment = await openEnvironment(server.url);
    const sandbox = holdingPolicy([workspace], 'task');
    const writer = new Dialog(
      await environment.start({
        argv: sh('echo small > small; echo ready; read -r line; echo go; cat /dev/zero > large'),
        cwd: workspace,
        pipeStdin: true,
        sandbox,
      }),
    );
    await replace(server);
    expect(await writer.ask('go')).toBe('ready');
    const ends: unknown[] = [];
    for await (const event of writer.program.events()) if (event.type === 'exited') ends.push(event);
    expect(ends).toMatchObject([{ signal: 'SIGKILL', changesFull: true }]);
    const set = environment.changes('task');
    expect((await set.list()).counts.created).toBe(2);
    await expect(environment.start({ argv: ['/bin/true'], cwd: workspace, sandbox })).rejects.toMatchObject({
      code: 'changesFull',
    });
    // Still so for the one after that, which has measured nothing yet.
    await replace(server);
    await expect(environment.start({ argv: ['/bin/true'], cwd: workspace, sandbox })).rejects.toMatchObject({
      code: 'changesFull',
    });
    expect((await set.apply({ paths: [`${workspace}/small`] })).applied.created).toBe(1);
    expect(readFileSync(`${workspace}/small`, 'utf8')).toBe('small\n');
    await set.discard();
    expect(readdirSync(sets).filter((name) => !name.startsWith('.'))).toEqual([]);
  });
});

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { environmentTarget } from '../../src/app/environment-rules.js';
import { openChosen } from '../../src/environment/index.js';
import { sha256 } from '../../src/transport/index.js';
import { localEnvironments, openInProcess } from '../harness/app-in-process.js';
import type { AppClient } from '../../testkit/app-client.mjs';
import { serve } from '../harness/serve.js';

const TOKEN = 'never-to-be-repeated';

/** Passes connections on to a server, keeps the headers each began with, and can cut them all. */
class HeaderRecorder implements Disposable {
  readonly heads: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, port: number) {
    this.#server = server;
    server.on('connection', (near) => {
      const far = connect(port, '127.0.0.1');
      near.once('data', (head: Buffer) => this.heads.push(head.toString()));
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on('error', () => to.destroy());
        from.pipe(to);
      }
    });
  }

  static async to(port: number): Promise<HeaderRecorder> {
    const server = createServer();
    const recorder = new HeaderRecorder(server, port);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return recorder;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What each connection sent under a name. */
  values(name: string): (string | undefined)[] {
    return this.heads.map((head) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(head)?.[1]);
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  [Symbol.dispose](): void {
    this.cut();
    this.#server.close();
  }
}

const cleanUps: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of cleanUps.splice(0)) await each[Symbol.asyncDispose]();
});

async function openApp(): Promise<AppClient> {
  const app = openInProcess({ environments: localEnvironments(openChosen) });
  cleanUps.push(app);
  return await app.client.initialize();
}

describe('headers of an added environment', () => {
  test('token and request id are sent with every connection, again after a cut', async () => {
    await using machine = await serve({ auth: { mode: 'capability-token', tokenSha256: sha256(TOKEN) } });
    using recorder = await HeaderRecorder.to(machine.port);
    const client = await openApp();
    const environmentId = 'box';
    await client.call('environment/add', {
      environmentId,
      execServerUrl: recorder.url,
      authBearerToken: TOKEN,
      websocketRequestId: 'request 7',
    });
    await client.call('environment/info', { environmentId });
    const run = { command: ['echo', 'there'], environmentId };
    expect(await client.call('command/exec', run)).toMatchObject({ stdout: 'there\n' });
    const before = recorder.heads.length;
    recorder.cut();
    expect(await client.call('command/exec', run)).toMatchObject({ stdout: 'there\n' });
    expect(recorder.heads.length).toBeGreaterThan(before);
    expect(new Set(recorder.values('authorization'))).toEqual(new Set([`Bearer ${TOKEN}`]));
    expect(new Set(recorder.values('x-request-id'))).toEqual(new Set(['request 7']));
  });

  test('a wrong token is an error that does not repeat it', async () => {
    await using machine = await serve({ auth: { mode: 'capability-token', tokenSha256: sha256('other') } });
    const client = await openApp();
    const environmentId = 'box';
    await client.call('environment/add', {
      environmentId,
      execServerUrl: machine.url,
      authBearerToken: TOKEN,
    });
    const [code, text] = await client.refusal('environment/info', { environmentId });
    expect(code).toBe(-32603);
    expect(text).toContain('401');
    const status = await client.call('environment/status', { environmentId });
    expect(status).toMatchObject({ status: 'disconnected' });
    expect(text + JSON.stringify(status)).not.toContain(TOKEN);
  });

  test('text that is not ASCII arrives as UTF-8', async () => {
    await using machine = await serve();
    using recorder = await HeaderRecorder.to(machine.port);
    const client = await openApp();
    const add = { environmentId: 'box', execServerUrl: recorder.url, websocketRequestId: 'é€ ' };
    await client.call('environment/add', add);
    await client.call('environment/info', { environmentId: 'box' });
    expect(recorder.values('x-request-id')[0]).toBe('é€ ');
  });

  test.each(['authBearerToken', 'websocketRequestId'])(
    '%s: what is refused, and what is not',
    async (name) => {
      const client = await openApp();
      const add = (value: unknown, execServerUrl = 'ws://127.0.0.1:9') =>
        client.ask('environment/add', { environmentId: 'e', execServerUrl, [name]: value });
      for (const value of [1, {}, 'a\nb', 'a\rb', 'a\0b', 'a\u007fb', 'a\u0007b']) {
        const { error } = await add(value);
        expect({ value, code: error?.code }).toEqual({ value, code: -32600 });
        expect(error?.message).not.toContain('a\n');
      }
      for (const value of [null, '', ' ', 'a\tb', 'é', '\u2028'])
        expect({ value, error: (await add(value)).error }).toEqual({ value, error: undefined });
      for (const url of [
        'ws://example.org:9',
        'ws://192.168.0.1:9',
        'ws://0.0.0.0:9',
        'ws://foo.localhost:9',
      ])
        expect({ url, code: (await add('x', url)).error?.code }).toEqual({ url, code: -32600 });
      for (const url of ['ws://localhost:9', 'ws://127.1.2.3:9', 'ws://[::1]:9', 'unix:///no/such/socket'])
        expect({ url, error: (await add('x', url)).error }).toEqual({ url, error: undefined });
      const far = { environmentId: 'e', execServerUrl: 'wss://example.org', [name]: 'x' };
      expect(environmentTarget(far)).toMatchObject({ url: 'wss://example.org', [name]: 'x' });
    },
  );

  test('skills are checked, and mean nothing here', async () => {
    const client = await openApp();
    const add = async (skills: unknown) => {
      const execServerUrl = 'ws://127.0.0.1:9';
      const { error } = await client.ask('environment/add', { environmentId: 'e', execServerUrl, skills });
      return error?.code;
    };
    for (const skills of [null, {}, { required: null }, { required: ['demo', ''] }, { unknown: 1 }])
      expect({ skills, code: await add(skills) }).toEqual({ skills, code: undefined });
    for (const skills of [[], 'x', { required: 'demo' }, { required: [1] }])
      expect({ skills, code: await add(skills) }).toEqual({ skills, code: -32600 });
  });
});

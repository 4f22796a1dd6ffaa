import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, type WireAnswer } from '../../testkit/wire-client.mjs';

/** A small generator of reproducible numbers. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state % below;
  };
}

const METHODS = [
  'initialize',
  'process/start',
  'process/read',
  'process/write',
  'process/signal',
  'process/terminate',
  'process/resize',
  'process/closeStdin',
  'process/list',
  'environment/info',
  'no/such',
];

describe('10,000 malformed messages', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
  });
  afterAll(() => server.stop());

  test('each is answered as specified and the server lives', async () => {
    const { client } = await dialWire(server.url);
    await client.handshake();
    const pick = random(42);
    const values = [
      'null',
      'true',
      '-1',
      '1.5',
      '1e999',
      '"x"',
      '""',
      '[]',
      '{}',
      '[{}]',
      '"\\ud800"',
      '{"a":{"b":[]}}',
      '18446744073709551615',
    ];
    const value = (): string => values[pick(values.length)] ?? 'null';
    const field = (): string =>
      ['processId', 'argv', 'cwd', 'env', 'tty', 'chunk', 'writeId', 'afterSeq', 'signal', 'size'][
        pick(10)
      ] ?? 'x';
    let unanswerable = 0;
    const expected = new Map<string, (code: number) => boolean>();
    for (let round = 0; round < 10_000; round += 1) {
      const method = METHODS[pick(METHODS.length)] ?? '';
      if (round % 2 === 0) {
        // Broken on the outside: answered under id -1.
        const text = JSON.stringify({ id: round, method, params: {} });
        client.send(text.slice(0, 1 + pick(text.length - 1)));
        unanswerable += 1;
      } else {
        // Whole on the outside, nonsense inside: answered under its own id.
        const fields = new Set([field(), field(), field()]);
        const params = [...fields].map((name) => `"${name}":${value()}`).join(',');
        expected.set(`r${round}`, (code) => [-32600, -32601, -32602, -32603].includes(code));
        client.send(`{"id":"r${round}","method":"${method}","params":{${params}}}`);
      }
    }
    await client.until(() => client.arrivals.filter((each) => 'id' in each).length >= 10_001);
    const answers = client.arrivals.filter((each): each is WireAnswer => 'id' in each);
    const anonymous = answers.filter(({ id }) => id === -1);
    expect(anonymous).toHaveLength(unanswerable);
    expect(new Set(anonymous.map(({ error }) => error?.code))).toEqual(new Set([-32600]));
    for (const { id, error } of answers) {
      if (error && expected.has(String(id))) expect(expected.get(String(id))?.(error.code)).toBe(true);
    }
    expect(answers.filter(({ id }) => expected.has(String(id)))).toHaveLength(expected.size);
    expect(await client.call('environment/status')).toEqual({ status: 'ready' });
    client.close();
  }, 60_000);

  test('raw bytes instead of WebSocket frames end that connection only', async () => {
    const pick = random(7);
    for (let round = 0; round < 50; round += 1) {
      const { client, socket } = await dialWire(server.url);
      const raw = (socket as unknown as { _socket: { write(data: Buffer): void } })._socket;
      raw.write(Buffer.from(Array.from({ length: 64 }, () => pick(256))));
      socket.terminate();
      await client.untilClosed();
    }
    const { client } = await dialWire(server.url);
    await client.handshake();
    client.close();
  });
});

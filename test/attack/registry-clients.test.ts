import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ExecClient } from '../../src/client/index.js';
import { RemoteMachine } from '../../src/registry/index.js';
import { decodeFrame, encodeFrame } from '../../src/registry/relay/relay-frame.js';
import { ExecServer } from '../../src/server/index.js';
import { NoiseClient } from '../registry/noise-client.js';
import { RegistrySite } from '../registry/registry-site.js';
import { tally } from './tally.js';

const MEBIBYTE = 1024 * 1024;
const HELLO = { clientName: 'test', resumeSessionId: null };

let site: RegistrySite;
let server: ExecServer;
let machine: RemoteMachine;
beforeEach(async () => {
  site = await RegistrySite.open();
  server = new ExecServer();
  machine = await RemoteMachine.join({
    url: site.url,
    environmentId: 'a',
    token: 'machine',
    accept: (channel, options) => server.accept(channel, options),
    maxUnfinishedBytes: 8 * MEBIBYTE,
    onLost: () => undefined,
  });
});
afterEach(async () => {
  await machine.close();
  await server.close();
  await site[Symbol.asyncDispose]();
});

let streams = 0;
async function reach(token?: string): Promise<NoiseClient> {
  streams += 1;
  return await NoiseClient.connect(site, { streamId: `stream-${streams}`, ...(token ? { token } : {}) });
}

/** A record with the beginning of a message of this length. */
function beginning(length: number, bytes: number): Buffer {
  const record = Buffer.alloc(4 + bytes, 0x20);
  record.writeUInt32BE(length);
  return record;
}

async function isServed(): Promise<void> {
  const { channel } = await reach();
  await using client = await ExecClient.connect({ dial: async () => channel, resume: false });
  expect(await client.call('environment/status', null)).toEqual({ status: 'ready' });
}

describe('clients of a machine that joined a registry', () => {
  test('do not fill its memory with messages that never end', async () => {
    const attackers = await Promise.all(Array.from({ length: 6 }, () => reach()));
    const ended: string[] = [];
    for (const { channel, seal } of attackers) {
      channel.open({ message: () => undefined, closed: ({ message }) => void ended.push(message) });
      seal(beginning(32 * MEBIBYTE, 60_000));
      for (let count = 0; count < 70; count += 1) seal(Buffer.alloc(60_000, 0x20));
    }
    // Each sent four megabytes: two of them fit.
    await expect.poll(() => ended.length).toBeGreaterThanOrEqual(4);
    tally('unfinished messages through a registry', { tries: attackers.length, successes: 0 });
    await isServed();
  });

  test('with different tokens do not get each other’s sessions', async () => {
    await using mine = await ExecClient.connect({
      dial: async () => (await reach('client-one')).channel,
      resume: false,
    });
    const { channel } = await reach('client-two');
    const answer = new Promise<string>((resolve) => {
      channel.open({ message: (text) => resolve(text), closed: () => undefined });
    });
    const params = { ...HELLO, resumeSessionId: mine.sessionId };
    channel.send(JSON.stringify({ id: 1, method: 'initialize', params }), () => undefined);
    expect(JSON.parse(await answer)).toMatchObject({ error: { data: { code: 'sessionBusy' } } });
    expect(await mine.call('environment/status', null)).toEqual({ status: 'ready' });
  });
});

describe('a router that is not honest', () => {
  test('cannot repeat, exchange or leave out anything unnoticed', async () => {
    const tricks: [string, (frames: Buffer[], client: NoiseClient) => Buffer[]][] = [
      [
        'repeats a command under a new number',
        ([first = Buffer.alloc(0)], { streamId }) => {
          const body = decodeFrame(first)?.body;
          if (body?.kind !== 'data') throw new Error('no data');
          return [first, encodeFrame({ streamId, body: { ...body, seq: body.seq + 1 } })];
        },
      ],
      [
        'exchanges the content of two',
        ([first = Buffer.alloc(0), second = Buffer.alloc(0)], { streamId }) => {
          const [one, two] = [decodeFrame(first)?.body, decodeFrame(second)?.body];
          if (one?.kind !== 'data' || two?.kind !== 'data') throw new Error('no data');
          return [
            encodeFrame({ streamId, body: { ...one, payload: two.payload } }),
            encodeFrame({ streamId, body: { ...two, payload: one.payload } }),
          ];
        },
      ],
      [
        'leaves one out and closes the gap',
        ([, second = Buffer.alloc(0)], { streamId }) => {
          const body = decodeFrame(second)?.body;
          if (body?.kind !== 'data') throw new Error('no data');
          return [encodeFrame({ streamId, body: { ...body, seq: body.seq - 1 } })];
        },
      ],
    ];
    for (const [name, change] of tricks) {
      const client = await reach();
      const heard: string[] = [];
      const ended = new Promise<string>((resolve) => {
        client.channel.open({
          message: (text) => void heard.push(text),
          closed: ({ message }) => resolve(message),
        });
      });
      client.intercept((frames) => change(frames, client), 2);
      client.channel.send(JSON.stringify({ id: 1, method: 'initialize', params: HELLO }), () => undefined);
      client.channel.send(JSON.stringify({ method: 'initialized', params: {} }), () => undefined);
      expect({ name, end: await ended }).toEqual({ name, end: 'noise_relay_protocol_error' });
      tally(`a router that ${name}`, { tries: 1, successes: heard.length > 1 ? 1 : 0 });
    }
    await isServed();
  });
});

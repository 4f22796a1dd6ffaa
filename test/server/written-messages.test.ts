import { expect, test } from 'vitest';
import { execServerNotifications } from '../../src/protocol/index.js';
import { openMemoryWire } from '../contract/wire.js';
import { sh, startParams } from '../../testkit/wire-client.mjs';

const written = ['process/output', 'process/exited', 'process/closed'] as const;

/** Only there if there is something to tell, or if somebody asked. */
const RARE = ['changesFull', 'networkDenied', 'usage'];

test('messages that are written by hand have the members their declarations name', async () => {
  await using wire = await openMemoryWire();
  const { client } = wire;
  await client.handshake();
  await client.call('process/start', startParams('p', sh('echo out; exit 3')));
  const events = await client.closedEvents('p');
  expect(events.map(({ method }) => method)).toEqual(written);
  for (const method of written) {
    const params = events.find((event) => event.method === method)?.params ?? {};
    const declared = execServerNotifications[method].params;
    const members = Object.keys(declared.shape).filter((name) => !RARE.includes(name));
    expect(Object.keys(params).sort()).toEqual(members.sort());
    expect(declared.safeParse(params).error).toBeUndefined();
  }
});

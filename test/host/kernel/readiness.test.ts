import { closeSync, readFileSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  libc,
  linux,
  openPipe,
  receiveMessage,
  sendMessage,
  socketPair,
  unwatchReadiness,
  watchReadiness,
} from '../../../src/host/kernel/index.js';

test('a descriptor is watched without anything being read from it', async () => {
  const { readEnd, writeEnd } = openPipe();
  let calls = 0;
  await new Promise<void>((resolve) => {
    watchReadiness(readEnd, 'read', () => {
      calls += 1;
      if (calls === 3) resolve();
    });
    writeSync(writeEnd, 'abc');
  });
  unwatchReadiness(readEnd);
  const bytes = new Uint8Array(128);
  expect(libc().read(readEnd, bytes, 128)).toBe(3);
  closeSync(writeEnd);
  await new Promise<void>((resolve) => watchReadiness(readEnd, 'read', resolve));
  expect(libc().read(readEnd, bytes, 128)).toBe(0);
  unwatchReadiness(readEnd);
  closeSync(readEnd);
});

test('a full pipe is reported when it has room again', async () => {
  const { readEnd, writeEnd } = openPipe();
  const block = new Uint8Array(65536);
  while (libc().write(writeEnd, block, block.length) > 0);
  let isWritable = false;
  const writable = new Promise<void>((resolve) =>
    watchReadiness(writeEnd, 'write', () => {
      isWritable = true;
      resolve();
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isWritable).toBe(false);
  libc().read(readEnd, block, block.length);
  await writable;
  unwatchReadiness(writeEnd);
  closeSync(readEnd);
  closeSync(writeEnd);
});

test('descriptors travel with a message and outlive the sender', () => {
  const [near, far] = socketPair();
  const { readEnd, writeEnd } = openPipe();
  expect(sendMessage(near, '{"a":"ä"}', [readEnd, writeEnd])).toBe(true);
  expect(sendMessage(near, 'no descriptors')).toBe(true);
  writeSync(writeEnd, 'still there');
  closeSync(readEnd);
  closeSync(writeEnd);
  closeSync(near);
  const message = receiveMessage(far);
  if (!message || message === 'end') throw new Error('no message');
  expect(message).toMatchObject({ text: '{"a":"ä"}', isTruncated: false });
  const [read = -1, write = -1] = message.descriptors;
  expect(readFileSync(`/proc/self/fdinfo/${read}`, 'utf8')).toMatch(/flags:\t0?2/);
  const bytes = new Uint8Array(128);
  expect(libc().read(read, bytes, 128)).toBe(11);
  expect(receiveMessage(far)).toMatchObject({ text: 'no descriptors', descriptors: [] });
  expect(receiveMessage(far, { wait: true })).toBe('end');
  for (const fd of [read, write, far]) closeSync(fd);
});

test('what cannot be received is noticed, and a full socket is no failure', () => {
  const [near, far] = socketPair();
  let sent = 0;
  while (sendMessage(near, 'x'.repeat(4096))) sent += 1;
  expect(sent).toBeGreaterThan(4);
  expect(receiveMessage(far)).toMatchObject({ descriptors: [] });
  expect(sendMessage(near, 'x'.repeat(4096))).toBe(true);
  closeSync(far);
  expect(sendMessage(near, 'x')).toBe(false);
  closeSync(near);
  expect(linux.SOCK_SEQPACKET).toBe(5);
});

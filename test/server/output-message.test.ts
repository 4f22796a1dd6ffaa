import { describe, expect, test } from 'vitest';
import { execDialect } from '../../src/protocol/dialects.js';
import { execServerNotifications } from '../../src/protocol/index.js';
import { BinaryMessage, messageText, type OutgoingMessage } from '../../src/rpc/index.js';
import { parseFrame } from '../../src/rpc/message.js';
import { Shrinkage } from '../../src/server/push/compression.js';
import { OutputMessage } from '../../src/server/push/output-message.js';
import type { PushTarget } from '../../src/server/push/output-pusher.js';

type Sent = { message: OutgoingMessage; flushed: (() => void) | undefined };

/** Takes messages and keeps them, as a connection nobody reads does. */
function stalledTarget(): { target: PushTarget; sent: Sent[] } {
  const sent: Sent[] = [];
  const send = (message: OutgoingMessage, flushed?: () => void): void => void sent.push({ message, flushed });
  // A message is written without a look at the queue.
  return { target: { send } as PushTarget, sent };
}

function output(seq: number, bytes: Uint8Array) {
  return { type: 'output', seq, stream: 'stdout', bytes } as const;
}

function expected(processId: string, seq: number, bytes: Uint8Array): unknown {
  const chunk = Buffer.from(bytes).toString('base64');
  return { method: 'process/output', params: { processId, seq, stream: 'stdout', chunk } };
}

describe('output as a message', () => {
  test.each([0, 1, 2, 3, 4096, 20_000, 65_536, 200_000])('%i bytes', (size) => {
    const { target, sent } = stalledTarget();
    const bytes = new Uint8Array(size).map((_, index) => index * 7);
    new OutputMessage(JSON.stringify('p')).send(output(12_345_678_901, bytes), target, new Shrinkage());
    expect(sent.map(({ message }) => JSON.parse(messageText(message)))).toEqual([
      expected('p', 12_345_678_901, bytes),
    ]);
  });

  test('as a frame whose bytes stand for the member that is declared so', () => {
    const { target, sent } = stalledTarget();
    const bytes = Buffer.from('out');
    new OutputMessage(JSON.stringify('p')).send(
      output(7, bytes),
      { ...target, sendsBytes: true },
      new Shrinkage(),
    );
    const frame = sent[0]?.message;
    if (!(frame instanceof BinaryMessage)) return expect.fail('it is no frame');
    expect(parseFrame(frame.joined(), execDialect)).toEqual({
      kind: 'notification',
      method: 'process/output',
      params: { processId: 'p', seq: 7, stream: 'stdout', chunk: '' },
      attached: {
        field: execServerNotifications['process/output'].bytes.params,
        bytes: new Uint8Array(bytes),
      },
    });
  });

  test('an id of any characters', () => {
    const { target, sent } = stalledTarget();
    const id = 'ünïcode "quoted" \u0000 \u{1f680}';
    const bytes = Buffer.from('x');
    new OutputMessage(JSON.stringify(id)).send(output(1, bytes), target, new Shrinkage());
    expect(sent.map(({ message }) => JSON.parse(messageText(message)))).toEqual([expected(id, 1, bytes)]);
  });

  test('what is not sent yet stays as it is, whatever is sent and flushed around it', () => {
    const { target, sent } = stalledTarget();
    const message = new OutputMessage(JSON.stringify('p'));
    const chunkOf = (seq: number): Uint8Array => new Uint8Array(65_536).fill(seq);
    for (let seq = 1; seq <= 40; seq += 1) message.send(output(seq, chunkOf(seq)), target, new Shrinkage());
    // Every other one leaves; its buffer is free for the next ones.
    const first = sent.splice(0);
    for (const { flushed } of first.filter((_, index) => index % 2 === 1)) flushed?.();
    const waiting = first.filter((_, index) => index % 2 === 0);
    for (let seq = 41; seq <= 80; seq += 1) message.send(output(seq, chunkOf(seq)), target, new Shrinkage());
    const seqs = [
      ...Array.from({ length: 20 }, (_, index) => 2 * index + 1),
      ...Array.from({ length: 40 }, (_, index) => index + 41),
    ];
    expect([...waiting, ...sent].map(({ message }) => JSON.parse(messageText(message)))).toEqual(
      seqs.map((seq) => expected('p', seq, chunkOf(seq))),
    );
    const memory = new Set([...waiting, ...sent].map(({ message }) => (message as Uint8Array).buffer));
    expect(memory.size).toBe(60);
  });
});

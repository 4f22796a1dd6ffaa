import { describe, expect, test } from 'vitest';
import { eventsOf, type Snapshot } from '../../src/client/process/snapshot.js';
import { snapshot } from '../harness/scripted-server.js';

type Facts = Parameters<typeof snapshot>[0];

/** `waiting`: numbers with how many bytes they are. */
function told(
  facts: Facts,
  known: { nextSeq?: number; exit?: boolean; waiting?: [number, number][] } = {},
): string[] {
  const waiting = new Map(known.waiting);
  const events = eventsOf(snapshot(facts) as Snapshot, { nextSeq: 1, exit: false, ...known, waiting });
  return events
    .sort((left, right) => left.seq - right.seq)
    .map((event) =>
      event.type === 'gap'
        ? `${event.seq}-${event.beforeSeq - 1} lost ${event.lostBytes}`
        : `${event.seq} ${event.type}`,
    );
}

const chunk = (seq: number, lostBytes?: number): { seq: number; text: string; lostBytes?: number } => ({
  seq,
  text: 'x',
  ...(lostBytes === undefined ? {} : { lostBytes }),
});

describe('events behind the answer to a read', () => {
  test.each<[string, Facts, Parameters<typeof told>[1], string[]]>([
    ['nothing new', { nextSeq: 1 }, {}, []],
    [
      'output of a running process',
      { chunks: [chunk(1), chunk(2)], nextSeq: 3 },
      {},
      ['1 output', '2 output'],
    ],
    [
      'an exit between output',
      { chunks: [chunk(1), chunk(3)], nextSeq: 4, exitCode: 0 },
      {},
      ['1 output', '2 exited', '3 output'],
    ],
    ['an exit and a close', { nextSeq: 3, exitCode: 0, closed: true }, {}, ['1 exited', '2 closed']],
    [
      'an exit that waits already',
      { chunks: [chunk(1)], nextSeq: 4, exitCode: 0, closed: true },
      { exit: true, waiting: [[2, 0]] },
      ['1 output', '3 closed'],
    ],
    [
      'an exit seen before',
      { nextSeq: 6, exitCode: 0, closed: true },
      { nextSeq: 5, exit: true },
      ['5 closed'],
    ],
    ['a counted loss', { chunks: [chunk(4, 99)], nextSeq: 5 }, {}, ['1-3 lost 99', '4 output']],
    [
      'a counted loss that includes what waits here',
      { chunks: [chunk(9, 99)], nextSeq: 10 },
      {
        waiting: [
          [5, 30],
          [6, 20],
        ],
      },
      ['1-4 lost 49', '7-8 lost 0', '9 output'],
    ],
    [
      'a loss nobody counted: at least a byte per entry',
      { chunks: [chunk(4)], nextSeq: 5 },
      {},
      ['1-3 lost 3', '4 output'],
    ],
    [
      'a loss and an exit at the end',
      { chunks: [chunk(4)], nextSeq: 7, exitCode: 0, closed: true },
      {},
      ['1-3 lost 3', '4 output', '5 exited', '6 closed'],
    ],
    [
      'an exit lost among the output',
      { chunks: [chunk(4, 50)], nextSeq: 5, exitCode: 0 },
      {},
      ['1-2 lost 50', '3 exited', '4 output'],
    ],
    [
      'numbers beyond reason',
      { nextSeq: 2 ** 50, exitCode: 0 },
      {},
      [`1-${2 ** 50 - 2} lost ${2 ** 50 - 2}`, `${2 ** 50 - 1} exited`],
    ],
  ])('%s', (_, facts, known, expected) => {
    expect(told(facts, known)).toEqual(expected);
  });
});

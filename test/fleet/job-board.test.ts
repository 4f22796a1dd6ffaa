import { expect, test } from 'vitest';
import { JobBoard } from '../../src/fleet/jobs/job-board.js';
import type { Stored } from '../../src/fleet/store/index.js';

const order = {
  selector: 'pool=ci',
  argv: ['true'],
  retries: 0,
  retryOn: 'lost',
  priority: 0,
  submittedAt: 1,
};
const attempt = { attempt: 1, retriesLeft: 0 };
const running = {
  ...attempt,
  state: 'running',
  machine: 'm',
  epoch: 1,
  token: 't',
  leaseMs: 1,
  startedAt: 1,
};
const ended = { ...attempt, state: 'ended', outcome: 'ended', machine: 'm', endedAt: 1 };
const machine = { name: 'm', labels: { pool: 'ci' } };

/** A board, and what NATS tells it. */
function openBoard() {
  const board = new JobBoard();
  let seq = 0;
  const stored = (subject: string, content: object): Stored => {
    seq += 1;
    const data = new TextEncoder().encode(JSON.stringify(content));
    return { subject, data, seq, id: String(seq), timeMs: 0, header: () => undefined };
  };
  return {
    board,
    submit: (id: string) => board.post(stored(`ew.f.job.spec.~any.alice.${id}`, order)),
    step: (id: string, step: number, state: object, author = 'm') =>
      board.update(stored(`ew.f.job.log.alice.${id}.${step}.${author}`, state)),
  };
}

test('a job is queued, running, ended and queued again, whatever of it is heard first', () => {
  const { board, submit, step } = openBoard();
  const lists = () => [board.queuedFor(machine), board.queued(), board.running()].map((list) => list.length);
  step('a', 1, running);
  expect(lists()).toEqual([0, 0, 0]);
  submit('a');
  expect(lists()).toEqual([0, 0, 1]);
  step('a', 2, ended);
  expect(lists()).toEqual([0, 0, 0]);
  step('a', 3, { ...attempt, attempt: 2, state: 'queued' }, '~client');
  expect(lists()).toEqual([1, 1, 0]);
});

import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type HostAnswer, HostAnswers } from '../../../src/host/network/host-answers.js';
import { HOST_ANSWER_LIMIT_MS } from '../../../src/protocol/host-questions.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const request = (host: string, port = 443) => ({ host, port, protocol: 'https_connect' as const });
const never = new AbortController().signal;
const UNANSWERED = { type: 'deny', reason: 'unanswered' };

/** Somebody who answers when a test says so. */
class Person {
  readonly asked: string[] = [];
  readonly given: AbortSignal[] = [];
  readonly answers: ((answer: HostAnswer) => void)[] = [];

  readonly ask = ({ host }: { host: string }, end: AbortSignal): Promise<HostAnswer> => {
    this.asked.push(host);
    this.given.push(end);
    return new Promise((resolve) => void this.answers.push(resolve));
  };
}

test('an answer that comes too late allows nothing, now or later', async () => {
  const person = new Person();
  const answers = new HostAnswers();
  const decide = answers.decider(person.ask);
  const waiting = decide(request('a.example'), never);
  await vi.advanceTimersByTimeAsync(HOST_ANSWER_LIMIT_MS - 1);
  expect(person.given[0]?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await waiting).toEqual(UNANSWERED);
  expect(person.given[0]?.aborted).toBe(true);
  person.answers[0]?.('session');
  void decide(request('a.example'), never);
  expect(person.asked).toEqual(['a.example', 'a.example']);
});

test('of a thousand hosts at once, 64 become questions, and those of an ended program make room', async () => {
  const person = new Person();
  const answers = new HostAnswers();
  const program = new AbortController();
  setMaxListeners(0, program.signal);
  const decide = answers.decider(person.ask);
  const all = Array.from({ length: 1_000 }, (_, index) =>
    decide(request(`h${index}.example`), program.signal),
  );
  expect(await Promise.all(all.slice(64))).toEqual(all.slice(64).map(() => UNANSWERED));
  expect(person.asked).toHaveLength(64);
  // Nobody can be asked about anything else meanwhile, whichever program it is.
  const other = answers.decider(person.ask);
  expect(await other(request('b.example'), never)).toEqual(UNANSWERED);
  program.abort();
  expect(await Promise.all(all.slice(0, 64))).toEqual(all.slice(0, 64).map(() => UNANSWERED));
  expect(person.given.every(({ aborted }) => aborted)).toBe(true);
  const asked = other(request('b.example'), never);
  person.answers.at(-1)?.('once');
  expect(await asked).toEqual({ type: 'allow' });
  expect(vi.getTimerCount()).toBe(0);
});

test('a program that has ended asks nobody', async () => {
  const person = new Person();
  expect(await new HostAnswers().decider(person.ask)(request('a.example'), AbortSignal.abort())).toEqual(
    UNANSWERED,
  );
  expect(person.asked).toEqual([]);
});

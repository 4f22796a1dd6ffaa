import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NetworkQuestions } from '../../src/cli/terminal/network-questions.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const question = (host: string) => ({ processId: 'p', host, port: 443, protocol: 'https_connect' });

let shown: string;
beforeEach(() => {
  shown = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    shown += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

function atTerminal(options?: { limitMs: number }): NetworkQuestions {
  const questions = new NetworkQuestions(options);
  questions.use({ line: undefined });
  return questions;
}

const typed = (questions: NetworkQuestions, text: string): string =>
  Buffer.from(questions.take(bytes(text))).toString();

/** Resolves once this host is asked about. */
async function asks(host: string): Promise<void> {
  await expect.poll(() => shown).toContain(`may it reach ${host}:443?`);
}

test('one question at a time, and what follows an answer is for the program', async () => {
  const questions = atTerminal();
  const [first, second] = [questions.ask(question('a.example')), questions.ask(question('b.example'))];
  await asks('a.example');
  expect(shown).not.toContain('b.example');
  expect(typed(questions, 'xyz')).toBe('');
  expect(typed(questions, 's\nls\n')).toBe('ls\n');
  expect(await first).toBe('session');
  await asks('b.example');
  expect(typed(questions, 'd')).toBe('');
  expect(await second).toBe('deny');
  expect(typed(questions, '\nls\n')).toBe('ls\n');
});

test('Ctrl-C denies, and reaches the program', async () => {
  const questions = atTerminal();
  const asked = questions.ask(question('a.example'));
  await asks('a.example');
  expect(typed(questions, '\u0003')).toBe('\u0003');
  expect(await asked).toBe('deny');
});

test('a question that nobody answers is over in time, and so are those that wait behind it', async () => {
  const questions = atTerminal({ limitMs: 100 });
  const all = await Promise.allSettled(
    ['a.example', 'b.example', 'c.example'].map((host) => questions.ask(question(host))),
  );
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  // The others were never put.
  expect(shown.match(/may it reach/g)).toHaveLength(1);
  // What is typed is for the program again.
  expect(typed(questions, 'so')).toBe('so');
  const late = atTerminal();
  const asked = late.ask(question('d.example'));
  await asks('d.example');
  typed(late, 'o');
  expect(await asked).toBe('once');
});

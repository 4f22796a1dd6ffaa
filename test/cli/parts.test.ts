import { expect, test, vi } from 'vitest';
import { AlternateScreen } from '../../src/cli/terminal/alternate-screen.js';
import { LineEscape } from '../../src/cli/terminal/line-escape.js';
import { enforceable } from '../../src/cli/doctor/local-probes.js';
import { createLog } from '../../src/cli/log.js';
import { collectVariable, parseDuration } from '../../src/cli/options/option-values.js';

/** What a sequence of key presses comes to: what is passed on, and commands. */
function keys(chunks: string[], mayGive = false): string {
  const escape = new LineEscape({ mayGive: () => mayGive });
  return chunks
    .flatMap((chunk) => [...escape.parts(Buffer.from(chunk))])
    .map(({ pass, command }) => Buffer.from(pass).toString() + (command ? `<${command}>` : ''))
    .join('');
}

/** What is passed on until they leave, and whether they do. */
function typed(...chunks: string[]): { pass: string; left: boolean } {
  const [pass = '', ...rest] = keys(chunks).split('<leave>');
  return { pass, left: rest.length > 0 };
}

test('~k hands the keyboard over if somebody wants it, and is text otherwise', () => {
  expect(keys(['ls\r~kls\r'], true)).toBe('ls\r<give>ls\r');
  expect(keys(['~', 'k', '~', 'k~.'], true)).toBe('<give><give><leave>');
  expect(keys(['ls\r~kls\r'])).toBe('ls\r~kls\r');
  expect(keys(['cd ~kim\r'], true)).toBe('cd ~kim\r');
});

test('~. leaves at the beginning of a line only, in one piece or key by key', () => {
  expect(typed('~.')).toEqual({ pass: '', left: true });
  expect(typed('ls\r', '~', '.')).toEqual({ pass: 'ls\r', left: true });
  expect(typed('cd ~', './x')).toEqual({ pass: 'cd ~./x', left: false });
  expect(typed('\r~/bin\r')).toEqual({ pass: '\r~/bin\r', left: false });
  expect(typed('\r~~.')).toEqual({ pass: '\r~.', left: false });
});

test('times and variables are read as people write them', () => {
  expect(['500ms', '30s', '1.5m', '2h', '7'].map(parseDuration)).toEqual([
    500, 30_000, 90_000, 7_200_000, 7000,
  ]);
  for (const wrong of ['', '0', '-1', '5d', 'soon']) expect(() => parseDuration(wrong)).toThrow('time');
  expect(collectVariable('A=b=c', { X: 'y' })).toEqual({ X: 'y', A: 'b=c' });
  expect(collectVariable('NOT_SET_ANYWHERE', {})).toEqual({});
  expect(() => collectVariable('=x', {})).toThrow('NAME');
});

test('a full-screen program is noticed, in however many pieces it says so', () => {
  const screen = new AlternateScreen();
  const after = (...pieces: string[]): boolean => {
    for (const piece of pieces) screen.take(Buffer.from(piece));
    return screen.active;
  };
  expect(after('plain', '\u001b[31mred\u001b[0m')).toBe(false);
  expect(after('\u001b[?1049h')).toBe(true);
  expect(after('text \u001b', '[?', '104', '9l')).toBe(false);
  expect(after('x\u001b[?47h\u001b[?47l\u001b[?1047', 'h more')).toBe(true);
  expect(after('\u001b[?25l')).toBe(true);
});

test('what a sandbox does not hold here is said', () => {
  const all = enforceable({ processLimit: true, laterMounts: 'keptOut' });
  expect(all).toBe('Enforces files, network, sockets and system calls, and process limits.');
  expect(enforceable({ processLimit: true, laterMounts: 'stayOut' })).toBe(all);
  expect(enforceable({ processLimit: true, laterMounts: 'reachIt' })).toMatch(
    /mounted while a program runs are visible to it/,
  );
  expect(enforceable({ processLimit: false, laterMounts: 'stayOut' })).toMatch(/no process limits/);
});

test('a line of the log stays one, whatever a client calls itself', async () => {
  const written: string[] = [];
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    const log = await createLog({ format: 'human', level: 'info' });
    log.info({ client: 'x\u001b[2J\nall is well' }, 'client initialized');
  } finally {
    write.mockRestore();
  }
  expect(written.join('')).toMatch(/^[\d:.]{12} client initialized client=x\uFFFD\[2J\uFFFDall is well\n$/);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { resultText } from '../../src/tools/index.js';
import { TestFolder } from '../harness/processes.js';
import { TestTools } from './harness.js';

/** What a model is told. */
async function told(tools: TestTools, name: string, args: unknown): Promise<string> {
  const result = await tools.box.call(name, args);
  expect(result).toMatchObject({ isError: true, notes: [], structured: { code: 'invalidParams' } });
  return result.text;
}

const FAST = { login: false, tty: false };

describe('arguments that can only mean one thing are accepted', () => {
  test.each<[string, unknown]>([
    ['JSON text', JSON.stringify({ cmd: 'echo hi', ...FAST })],
    ['JSON text in JSON text', JSON.stringify(JSON.stringify({ cmd: 'echo hi', ...FAST }))],
    [
      'numbers and booleans as strings',
      { cmd: 'echo hi', login: 'False', tty: 'false', yield_time_ms: '9000' },
    ],
    [
      'null for what is left out',
      { cmd: 'echo hi', ...FAST, workdir: null, sandbox: null, max_output_tokens: null },
    ],
    [
      'other spellings',
      { Cmd: 'echo hi', LOGIN: false, tty: false, yieldTimeMs: 9000, 'max-output-tokens': '500' },
    ],
    ['the names other tools use', { command: 'echo hi', cwd: '/', ...FAST }],
    ['a list of words', { cmd: ['sh', '-c', 'echo "$0"', 'hi'], ...FAST }],
    ['a list of one command line', { cmd: ['echo hi'], ...FAST }],
  ])('%s', async (_what, args) => {
    await using tools = new TestTools();
    const result = await tools.box.call('exec_command', args);
    expect(result).toMatchObject({ isError: false, notes: [], structured: { exit_code: 0, output: 'hi\n' } });
  });

  test('words keep what is in them', async () => {
    await using tools = new TestTools();
    const words = ["it's", 'a  b', '$HOME', '*', '', 'ü\n"'];
    const { structured } = await tools.call('exec_command', { cmd: ['printf', '<%s>', ...words], ...FAST });
    expect(structured).toMatchObject({ output: words.map((word) => `<${word}>`).join('') });
  });

  test('an argument that is there twice keeps its own name', async () => {
    await using tools = new TestTools();
    const result = await tools.call('exec_command', { cmd: 'echo hi', command: 'echo no', ...FAST });
    expect([result.structured['output'], result.notes]).toEqual([
      'hi\n',
      ['exec_command has no command: ignored.'],
    ]);
  });

  test('paths: the home directory, file URIs, and one glob instead of a list', async () => {
    using folder = new TestFolder();
    await using tools = new TestTools({ cwd: folder.path });
    writeFileSync(folder.file('a b.txt'), 'found\n');
    writeFileSync(folder.file('c.md'), 'found\n');
    const uri = pathToFileURL(folder.file('a b.txt')).href;
    expect((await tools.call('read_file', { file_path: uri })).text).toBe('found\n');
    expect((await tools.call('search', { query: 'found', globs: '*.md' })).text).toBe('c.md:1:found');
    expect((await tools.call('search', { pattern: 'found', globs: '["*.md"]' })).text).toBe('c.md:1:found');
    const written = await tools.call('write_file', {
      path: pathToFileURL(folder.file('new/deep.txt')).href,
      content: 'x',
    });
    expect([written.text, readFileSync(folder.file('new/deep.txt'), 'utf8')]).toEqual([
      `Wrote 1 bytes to ${folder.file('new/deep.txt')}`,
      'x',
    ]);
    const { userHomeDir } = await tools.environment.info();
    const home = decodeURIComponent(new URL(String(userHomeDir)).pathname);
    for (const workdir of ['~', '~/', `file://${home}`])
      expect((await tools.exec('pwd', { tty: false, workdir })).output).toBe(`${home}\n`);
    expect((await tools.call('list_directory', { path: '~' })).structured['path']).toBe(home);
  });
});

describe('other arguments are answered with what to send', () => {
  test.each<[string, unknown, string]>([
    ['exec_command', {}, 'cmd is missing; send a string that is not empty'],
    ['exec_command', null, 'cmd is missing; send a string that is not empty'],
    ['exec_command', { cmd: null }, 'cmd is missing; send a string that is not empty'],
    ['exec_command', { cmd: '' }, 'cmd must be a string that is not empty'],
    ['exec_command', { cmd: { text: 'ls' } }, 'cmd must be a string that is not empty'],
    ['exec_command', { cmd: ['ls', 1] }, 'cmd must be a string that is not empty'],
    ['exec_command', { cmd: 'ls', sandbox: 'all' }, 'sandbox must be "read-only", or left out'],
    ['exec_command', { cmd: 'ls', tty: 'maybe' }, 'tty must be true or false, or left out'],
    [
      'exec_command',
      { cmd: 'ls', yield_time_ms: 'long' },
      'yield_time_ms must be a number of at least 0, or left out',
    ],
    [
      'exec_command',
      { cmd: 'ls', yieldTimeMs: -1 },
      'yield_time_ms must be a number of at least 0, or left out',
    ],
    ['exec_command', ['ls'], 'they must be a JSON object'],
    ['exec_command', 'ls -la', 'they must be a JSON object'],
    ['exec_command', '{"cmd": "l', 'they must be a JSON object'],
    ['write_stdin', { session_id: 'one' }, 'session_id must be a whole number of at least 1'],
    ['write_stdin', { session_id: 1.5 }, 'session_id must be a whole number of at least 1'],
    [
      'write_stdin',
      { session_id: 1, chars: 'x'.repeat(600_000) },
      'chars must be a string of at most 524288 characters, or left out',
    ],
    [
      'read_file',
      { path: '', from: 0 },
      'path must be a string that is not empty; from must be a whole number of at least 1, or left out',
    ],
    [
      'search',
      { pattern: 'x', max_matches: 1000 },
      'max_matches must be a whole number from 1 to 200, or left out',
    ],
    ['search', { pattern: 'x', globs: [1] }, 'globs must be a list of strings, or left out'],
  ])('%s %.60j', async (name, args, sentence) => {
    await using tools = new TestTools();
    expect(await told(tools, name, args)).toBe(`Invalid arguments for ${name}: ${sentence}.`);
  });

  test('what turns out to be wrong later', async () => {
    using folder = new TestFolder();
    await using tools = new TestTools({ cwd: folder.path });
    writeFileSync(folder.file('lines'), 'one\ntwo\n');
    writeFileSync(folder.file('empty'), '');
    const answers: [string, Record<string, unknown>, string][] = [
      [
        'exec_command',
        { cmd: 'true', workdir: '/no/such' },
        'The working directory /no/such does not exist.',
      ],
      [
        'exec_command',
        { cmd: `: ${'x'.repeat(3_000_000)}` },
        'The command is too long. Write it to a file with write_file, and run that.',
      ],
      ['exec_command', { cmd: 'a\0b' }, 'An argument contains a NUL byte.'],
      ['read_file', { path: 'file://elsewhere/x' }, 'The path URI names another host.'],
      ['read_file', { path: 'a\0b' }, 'The path contains a NUL byte.'],
      ['read_file', { path: 'none' }, 'none: No such file or directory (os error 2)'],
      ['write_file', { path: 'lines/x', content: '' }, 'lines/x: File exists (os error 17)'],
      ['search', { pattern: 'x', cursor: 'y' }, 'The cursor does not come from an earlier answer.'],
      ['read_file', { path: 'lines', from: 3 }, 'There is no line 3: the file has 2.'],
      ['read_file', { path: 'lines', from: 2, to: 1 }, 'There are no lines in this range.'],
      ['read_file', { path: 'empty' }, 'The file is empty.'],
    ];
    for (const [name, args, sentence] of answers)
      expect(resultText(await tools.call(name, args))).toBe(sentence);
  });
});

test('names of files cannot look like several, nor do anything to a terminal', async () => {
  using folder = new TestFolder();
  await using tools = new TestTools({ cwd: folder.path });
  writeFileSync(folder.file('a\nb\u001b[2J\u009bc'), 'found\n');
  const shown = '"a\\nb\\u001b[2J\\u009bc"';
  expect((await tools.call('list_directory', {})).text).toBe(shown);
  expect((await tools.call('search', { pattern: 'found' })).text).toBe(`${shown}:1:found`);
  expect((await tools.call('read_file', { path: JSON.parse(shown) })).text).toBe('found\n');
});

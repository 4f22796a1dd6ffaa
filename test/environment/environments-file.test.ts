import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseEnvironments } from '../../src/environment/environments-file.js';
import { loadEnvironments } from '../../src/environment/providers.js';
import { TestFolder } from '../harness/processes.js';

const full = `
default = "box"
include_local = false

[[environments]]
id = "box"
program = "ssh"
args = ["build-box", "execwire", "serve", "--listen", "stdio"]
cwd = "work"
env = { LANG = "C" }
initialize_timeout_sec = 2.5

[[environments]]
id = "far_1"
url = "wss://far.example:4500"
auth_bearer_token = "secret"
connect_timeout_sec = 3
`;

describe('environments.toml', () => {
  test('every key', () => {
    expect(parseEnvironments(full, 'f')).toEqual({
      defaultId: 'box',
      includeLocal: false,
      environments: [
        {
          id: 'box',
          program: 'ssh',
          args: ['build-box', 'execwire', 'serve', '--listen', 'stdio'],
          cwd: 'work',
          env: { LANG: 'C' },
          initializeTimeoutMs: 2500,
        },
        { id: 'far_1', url: 'wss://far.example:4500', authBearerToken: 'secret', connectTimeoutMs: 3000 },
      ],
    });
  });

  test.each([
    ['', { defaultId: 'local', includeLocal: true }],
    ['include_local = false', { defaultId: null, includeLocal: false }],
    ['default = "none"', { defaultId: null, includeLocal: true }],
    ['default = "local"', { defaultId: 'local', includeLocal: true }],
  ])('the default of %j', (text, expected) => {
    expect(parseEnvironments(text, 'f')).toEqual({ environments: [], ...expected });
  });

  const entry = (lines: string): string =>
    `[[environments]]\nid = "a"\nurl = "ws://h:1"\n[[environments]]\n${lines}`;
  test.each([
    ['x = ', 'f:1: ', /Invalid TOML/],
    ['default = "nope"', 'f:1: ', /"nope" is not configured/],
    ['\nincludelocal = true', 'f:2: ', /unknown key "includelocal"/],
    [entry('id = "b"\nurl = "ws://h:1"\ntoken = "x"'), 'f:7: ', /unknown key "token"/],
    [entry('id = "a"\nurl = "ws://h:1"'), 'f:5: ', /"a" occurs twice/],
    [entry('id = "local"\nurl = "ws://h:1"'), 'f:5: ', /"local" is reserved/],
    [entry('id = "none"\nurl = "ws://h:1"'), 'f:5: ', /"none" is reserved/],
    [entry('id = "a b"\nurl = "ws://h:1"'), 'f:5: ', /letters, digits/],
    [entry(`id = "${'x'.repeat(65)}"\nurl = "ws://h:1"`), 'f:5: ', /1 to 64/],
    [entry('id = "b"'), 'f:5: ', /exactly one of/],
    [entry('id = "b"\nurl = "ws://h:1"\nprogram = "p"'), 'f:6: ', /exactly one of/],
    [entry('id = "b"\nurl = "http://h:1"'), 'f:6: ', /ws:\/\//],
    [entry('id = "b"\nurl = "ws://h:1"\nargs = []'), 'f:7: ', /only goes with `program`/],
    [entry('id = "b"\nprogram = "p"\nconnect_timeout_sec = 1'), 'f:7: ', /only goes with `url`/],
    [entry('id = "b"\nprogram = "p"\ninitialize_timeout_sec = 0'), 'f:7: ', /initialize_timeout_sec/],
    [entry('url = "ws://h:1"'), 'f:4: ', /id: /],
    ['default = "local"\ninclude_local = false', 'f:1: ', /not configured/],
  ])('%j is refused with file, line and reason', (text, place, reason) => {
    expect(() => parseEnvironments(text, 'f')).toThrow(
      expect.objectContaining({ code: 'invalidConfiguration', message: expect.stringMatching(reason) }),
    );
    expect(() => parseEnvironments(text, 'f')).toThrow(place);
  });

  test('never quotes a token', () => {
    const text = entry('id = "b"\nurl = "nonsense"\nauth_bearer_token = "s3cret"');
    expect(() => parseEnvironments(text, 'f')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('s3cret') }),
    );
  });
});

describe('which environments there are', () => {
  test('the file wins over the variables, ours over the peer’s, and nothing means this machine', () => {
    using folder = new TestFolder();
    const home = { EXECWIRE_HOME: folder.path };
    expect(loadEnvironments(home)).toEqual({ environments: [], includeLocal: true, defaultId: 'local' });
    expect(loadEnvironments({ ...home, CODEX_EXEC_SERVER_URL: ' ws://h:1 ' })).toEqual({
      environments: [{ id: 'remote', url: 'ws://h:1' }],
      includeLocal: false,
      defaultId: 'remote',
    });
    expect(
      loadEnvironments({ ...home, EXECWIRE_SERVER_URL: 'ws://ours:1', CODEX_EXEC_SERVER_URL: 'ws://h:1' }),
    ).toMatchObject({ environments: [{ url: 'ws://ours:1' }] });
    expect(loadEnvironments({ ...home, EXECWIRE_SERVER_URL: 'none' })).toEqual({
      environments: [],
      includeLocal: false,
      defaultId: null,
    });
    expect(() => loadEnvironments({ ...home, EXECWIRE_SERVER_URL: 'http://x' })).toThrow(
      'EXECWIRE_SERVER_URL',
    );

    writeFileSync(folder.file('environments.toml'), full);
    const config = loadEnvironments({ ...home, EXECWIRE_SERVER_URL: 'ws://ours:1' });
    expect(config.environments[0]).toMatchObject({ id: 'box', cwd: folder.file('work') });
  });
});

import { createServer as createTcpServer } from 'node:net';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { SignJWT } from 'jose';
import { describe, expect, test, vi } from 'vitest';
import { reachable } from '../../src/cli/commands/next-steps.js';
import { shellWord } from '../../src/cli/terminal/shell-word.js';
import { openEnvironment } from '../../src/environment/index.js';
import { type CommandResult, execwire } from '../../testkit/command-line.mjs';
import { bin, launch } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { makeCertificate } from '../harness/certificate.js';
import { TestFolder } from '../harness/processes.js';

// Each test starts several programs, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const TOKEN = 'a-token-that-is-long-enough';

async function guarded(folder: TestFolder): Promise<ServerProcess> {
  writeFileSync(folder.file('token'), `${TOKEN}\n`);
  return await ServerProcess.start({
    args: ['--token-file', folder.file('token')],
  });
}

const run = (folder: TestFolder, ...args: string[]): Promise<CommandResult> =>
  execwire(['run', ...args, '--', 'echo', 'in'], { env: { EXECWIRE_HOME: folder.path } });

describe('addresses', () => {
  test.each([
    ['127.0.0.1:4500', 'For an address, use: ws://127.0.0.1:4500'],
    ['http://127.0.0.1:4500', 'For a server at http://…, use ws://…'],
    ['ws://127.0.0.1:1', 'nothing listens at this address (connect ECONNREFUSED 127.0.0.1:1)'],
    ['ws://no-such-host.invalid:1', 'there is no host with this name'],
  ])('%s', async (address, hint) => {
    using folder = new TestFolder();
    const { code, stdout, stderr } = await run(folder, '-e', address);
    expect([code, stdout, stderr]).toEqual([125, '', expect.stringContaining(hint)]);
  });
});

describe('tokens', () => {
  test('a missing, a wrong and a right one are told apart, and the fix is named', async () => {
    using folder = new TestFolder();
    await using server = await guarded(folder);
    writeFileSync(folder.file('wrong'), 'another-token-that-is-wrong');
    const [missing, wrong, right] = await Promise.all([
      run(folder, '-e', server.url),
      run(folder, '-e', server.url, '--token-file', folder.file('wrong')),
      run(folder, '-e', server.url, '--token-file', folder.file('token')),
    ]);
    expect(missing.stderr).toMatch(/requires a token\. Give it with --token-file FILE/);
    expect(wrong.stderr).toMatch(
      /the token was not accepted \(HTTP status 401\)\. Check the one given with --token-file/,
    );
    expect(wrong.stderr).not.toContain('another-token');
    expect([missing.code, wrong.code, right.stdout]).toEqual([125, 125, 'in\n']);
    await expect(openEnvironment(server.url)).rejects.toMatchObject({
      code: 'notConnected',
      data: { status: 401, reason: 'tokenMissing' },
    });
  });

  test('the short flag does not mix with another way to authenticate', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('token'), TOKEN);
    const serve = (...args: string[]) => execwire(['serve', '--token-file', folder.file('token'), ...args]);
    const refused = {
      code: 2,
      stdout: '',
      stderr: 'execwire: --token-file cannot be used with another --ws-auth or --ws-token-file.\n',
    };
    expect(await serve('--ws-auth', 'signed-bearer-token')).toEqual(refused);
    expect(await serve('--ws-token-file', folder.file('other'))).toEqual(refused);
  });

  test('an expired one is said to have expired', async () => {
    using folder = new TestFolder();
    const secret = 'a shared secret of at least 32 bytes';
    writeFileSync(folder.file('secret'), secret);
    await using server = await ServerProcess.start({
      args: [
        '--ws-auth',
        'signed-bearer-token',
        '--ws-shared-secret-file',
        folder.file('secret'),
        '--ws-audience',
        'a',
      ],
    });
    const sign = async (claims: object, expires: number): Promise<string> =>
      await new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime(expires)
        .sign(Buffer.from(secret));
    const now = Math.floor(Date.now() / 1000);
    writeFileSync(folder.file('old'), await sign({ aud: 'a' }, now - 3600));
    writeFileSync(folder.file('foreign'), await sign({ aud: 'b' }, now + 3600));
    const [old, foreign] = await Promise.all(
      ['old', 'foreign'].map((name) => run(folder, '-e', server.url, '--token-file', folder.file(name))),
    );
    expect(old?.stderr).toContain('the token has expired');
    expect(foreign?.stderr).toContain('jwt audience mismatch');
  });

  test('come from files and programs, and are never needed literally', async () => {
    using folder = new TestFolder();
    await using server = await guarded(folder);
    const entry = (id: string, more: string): string =>
      `[[environments]]\nid = "${id}"\nurl = "${server.url}"\n${more}\n`;
    writeFileSync(
      folder.file('environments.toml'),
      [
        entry('file', 'token_file = "token"'),
        entry('program', `token_command = ["sh", "-c", "echo asking >&2; cat ${folder.file('token')}"]`),
        entry('broken', 'token_command = ["sh", "-c", "echo secret; echo no >&2; exit 3"]'),
        entry('absent', 'token_command = ["no-such-program"]'),
        entry('silent', 'token_command = ["true"]'),
        entry('gone', 'token_file = "no-such-file"'),
      ].join('\n'),
    );
    const ids = ['file', 'program', 'broken', 'absent', 'silent', 'gone'];
    const outcomes = await Promise.all(ids.map((id) => run(folder, '-e', id)));
    expect(outcomes.map(({ stdout }) => stdout)).toEqual(['in\n', 'in\n', '', '', '', '']);
    const errors = outcomes.map(({ stderr }) => stderr);
    expect(errors[2]).toContain('failed with exit status 3');
    expect(errors[2]).toContain('broken: no\n');
    expect(errors[2]).not.toContain('secret');
    expect(errors[3]).toContain('names a program that does not exist');
    expect(errors[4]).toContain('printed no token');
    expect(errors[5]).toContain(`Cannot read ${folder.file('no-such-file')}: it does not exist.`);
  });

  test('with a line break at their end are accepted, with one inside refused', async () => {
    using folder = new TestFolder();
    await using server = await guarded(folder);
    const environment = await openEnvironment(server.url, { authBearerToken: `${TOKEN}\r\n` });
    await environment.close();
    await expect(openEnvironment(server.url, { authBearerToken: 'a\nb' })).rejects.toThrow(
      'contains a line break',
    );
    await expect(openEnvironment(server.url, { authBearerToken: ' \n' })).rejects.toThrow('is empty');
  });

  test('token new makes a private file, tells how to use it, and never replaces one', async () => {
    using folder = new TestFolder();
    const made = await execwire(['token', 'new', folder.file('made')]);
    expect([made.code, made.stdout]).toEqual([0, '']);
    expect(statSync(folder.file('made')).mode & 0o777).toBe(0o600);
    const token = readFileSync(folder.file('made'), 'utf8').trim();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(made.stderr).not.toContain(token);
    for (const command of ['serve', 'run'])
      expect(made.stderr).toMatch(new RegExp(`${command} .*--token-file ${folder.file('made')} `));
    const [, digest = ''] = /--ws-token-sha256 (\w+)/.exec(made.stderr) ?? [];
    await using server = await ServerProcess.start({
      args: ['--ws-auth', 'capability-token', '--ws-token-sha256', digest],
    });
    expect((await run(folder, '-e', server.url, '--token-file', folder.file('made'))).stdout).toBe('in\n');
    const again = await execwire(['token', 'new', folder.file('made')]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists already')]);
    expect(readFileSync(folder.file('made'), 'utf8').trim()).toBe(token);
    expect((await execwire(['token', 'new'])).stdout).toMatch(/^[\w-]{43}\n$/);
  });
});

describe('addresses', () => {
  test('TLS and plain text are not mixed up without a word', async () => {
    using folder = new TestFolder();
    await using plain = await ServerProcess.start();
    const [cert, key] = makeCertificate(folder);
    await using secure = await ServerProcess.start({ args: ['--tls-cert', cert, '--tls-key', key] });
    const [tooMuch, tooLittle, untrusted] = await Promise.all([
      run(folder, '-e', plain.url.replace('ws:', 'wss:')),
      run(folder, '-e', secure.url.replace('wss:', 'ws:')),
      run(folder, '-e', secure.url),
    ]);
    expect(tooMuch.stderr).toContain('does not speak TLS on this port. Use ws:// instead of wss://');
    expect(tooLittle.stderr).toContain('connect with wss:// instead of ws://');
    expect(untrusted.stderr).toContain('set NODE_EXTRA_CA_CERTS');
  });

  test('a server that answers 401 without end does not hold us up', async () => {
    using folder = new TestFolder();
    const sockets = new Set<import('node:net').Socket>();
    const server = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.write(`HTTP/1.1 401 Unauthorized\r\ncontent-type: text/plain\r\n\r\n${'x'.repeat(10_000)}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const { code, stderr } = await run(folder, '-e', `ws://127.0.0.1:${port}`);
    expect([code, stderr]).toEqual([125, expect.stringContaining('requires a token')]);
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});

describe('configuration', () => {
  test('an unknown environment is answered with the known ones and the file', async () => {
    using folder = new TestFolder();
    mkdirSync(folder.file('empty'));
    writeFileSync(
      folder.file('environments.toml'),
      '[[environments]]\nid = "box"\nurl = "ws://127.0.0.1:1"\n',
    );
    expect((await run(folder, '-e', 'bx')).stderr).toBe(
      `execwire: No environment "bx" is configured. Known: local, box. They are configured in ${folder.file('environments.toml')}.\n`,
    );
    const none = await execwire(['run', '-e', 'bx', 'true'], {
      env: { EXECWIRE_HOME: folder.file('empty') },
    });
    expect(none.stderr).toContain(`${folder.file('empty/environments.toml')} (which does not exist)`);
  });

  test.each([
    [
      '[[environments]]\nid = "b"\nurl = "ws://h:1"\ntoken = "x"',
      4,
      /unknown key "token"; known here: id, url, auth_bearer_token, token_file/,
    ],
    ['defalt = "x"', 1, /unknown key "defalt"; known here: default, include_local, environments/],
    ['[[environments]]\nid = 5', 2, /id: must be a string in quotes/],
    ['[[environments]]\nid = "b"\nprogram = "x"\nargs = "y"', 4, /args: must be a list of strings/],
    ['[[environments]]\nid = "b"\nprogram = "x"\ntoken_file = "y"', 4, /token_file: only goes with `url`/],
    [
      '[[environments]]\nid = "b"\nurl = "ws://h:1"\ntoken_file = "y"\ntoken_command = ["z"]',
      5,
      /only one of/,
    ],
    [
      '[[environments]]\nid = "b"\nurl = "ws://h:1"\nconnect_timeout_sec = "5"',
      4,
      /must be a number of seconds/,
    ],
    ['include_local = "yes"', 1, /must be true or false/],
  ])('%j', async (text, line, sentence) => {
    using folder = new TestFolder();
    writeFileSync(folder.file('environments.toml'), text);
    const { stderr } = await run(folder);
    expect(stderr).toContain(`${folder.file('environments.toml')}:${line}: `);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain('Invalid input');
  });
});

describe('what a server tells to type', () => {
  test.each([[[]], [['auth']], [['auth', 'tls']], [['auth', 'everywhere']]])(
    'works as printed: %j',
    async (kinds) => {
      using folder = new TestFolder();
      const [cert, key] = makeCertificate(folder);
      writeFileSync(folder.file("my token's"), TOKEN);
      const kindArgs: Record<string, string[]> = {
        auth: ['--ws-auth', 'capability-token', '--ws-token-file', folder.file("my token's")],
        tls: ['--tls-cert', cert, '--tls-key', key],
        everywhere: ['--insecure', '--listen', 'ws://0.0.0.0:0'],
      };
      await using server = await ServerProcess.start({ args: kinds.flatMap((kind) => kindArgs[kind] ?? []) });
      const line = await server.saysOnStderr(/run a command here: +(.*)/);
      const env = { ...process.env, EXECWIRE_HOME: '/nonexistent' };
      expect(execFileSync('sh', ['-c', line], { encoding: 'utf8', env })).toContain('Linux');
    },
  );

  test('addresses and words', () => {
    const interfaces = {
      lo: [{ internal: true, family: 'IPv4', address: '127.0.0.1' }],
      eth0: [{ internal: false, family: 'IPv4', address: '192.0.2.7' }],
    } as unknown as Parameters<typeof reachable>[1];
    expect(reachable('ws://0.0.0.0:80', interfaces)).toBe('ws://192.0.2.7:80');
    expect(reachable('wss://[::]:80', {})).toBe('wss://127.0.0.1:80');
    expect(reachable('ws://127.0.0.1:80', interfaces)).toBe('ws://127.0.0.1:80');
    expect([shellWord('a/b-c'), shellWord("it's")]).toEqual(['a/b-c', `'it'\\''s'`]);
  });
});

describe('words', () => {
  test('that are not UTF-8 are refused instead of changed', async () => {
    const argv = ['sh', '-c', 'exec "$@" "$(printf "a\\377b")"', 'sh', process.execPath, bin];
    const typed = async (...words: string[]) => {
      const child = launch([...argv, ...words], { env: { EXECWIRE_HOME: '/nonexistent' } });
      const closed = once(child, 'close');
      const [stdout, stderr] = await Promise.all([child.stdout.toArray(), child.stderr.toArray(), closed]);
      return [child.exitCode, ...[stdout, stderr].map((pieces) => Buffer.concat(pieces).toString())];
    };
    expect(await typed('run', '--', 'printf', '%s')).toEqual([
      2,
      '',
      'execwire: An argument is not UTF-8, and would arrive as something else. Give such bytes on stdin or in a file.\n',
    ]);
    const genuine = await execwire(['run', '--', 'printf', '%s', 'a\uFFFDb']);
    expect(genuine).toEqual({ code: 0, stdout: 'a\uFFFDb', stderr: '' });
  });

  test('a command of a command that does not exist is taken for no program', async () => {
    const top = await execwire(['chek']);
    expect(top.stderr).toContain('To run a program, use');
    const inner = await execwire(['env', 'chek']);
    expect([inner.code, inner.stderr]).toEqual([
      2,
      "error: unknown command 'chek'\n(Did you mean check?)\n(run with --help for details)\n",
    ]);
  });
});

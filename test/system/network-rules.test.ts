// Needs: curl, wget, git, python3, pip3, bwrap
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/environment/index.js';
import type { Environment } from '../../src/contract/index.js';
import { openEnvironment } from '../../src/index.js';
import { CommandLine } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

/** Serves a folder; `/echo` says which host and path were asked for. */
const SITE = `
  const { readFileSync } = require('fs');
  require('http').createServer((request, response) => {
    const path = request.url.split('?')[0];
    if (path === '/echo') return response.end(request.headers.host);
    if (path.endsWith('/')) response.setHeader('content-type', 'text/html');
    try { response.end(readFileSync(process.argv[1] + path.replace(/\\/$/, '/index.html'))); }
    catch { response.writeHead(404).end(); }
  }).listen(0, '127.0.0.1', function () {
    const { WebSocketServer } = require(process.argv[2]);
    new WebSocketServer({ server: this }).on('connection', (socket) => socket.send('from a websocket'));
    console.log(this.address().port);
  });`;

/**
 * A client of the WebSocket library that most programs for Node use, through the proxy of the environment. It asks that
 * proxy itself: the default agent of newer Nodes would ask the proxy to ask the proxy.
 */
const SOCKET_CLIENT = `
  const [ws, port] = process.argv.slice(1);
  const { hostname, port: proxy } = new URL(process.env.HTTP_PROXY);
  const path = '127.0.0.1:' + port;
  require('http').request({ hostname, port: proxy, agent: false, method: 'CONNECT', path })
    .on('connect', (_answer, socket) => {
      const { WebSocket } = require(ws);
      new WebSocket('ws://127.0.0.1:' + port, { createConnection: () => socket })
        .on('message', (data) => { console.log(String(data)); process.exit(); });
    }).end();`;

const WS = fileURLToPath(import.meta.resolve('ws'));
const WS_FOR_REQUIRE = join(dirname(WS), 'index.js');

/** Makes a wheel that pip installs. */
const MAKE_WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('right.py', 'said = "from the index"')
    wheel.writestr('right-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: right\\nVersion: 1.0\\n')
    wheel.writestr('right-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('right-1.0.dist-info/RECORD', '')
`;

let folder: TestFolder;
let site: ReturnType<typeof spawn>;
let port: number;
beforeAll(async () => {
  folder = new TestFolder();
  site = spawn(process.execPath, ['-e', SITE, folder.path, WS_FOR_REQUIRE], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(site.stdout ?? site, 'data')) as [Buffer];
  port = Number(line.toString());
  makeRepository();
  makeRegistry();
  makeIndex();
});
afterAll(() => {
  site.kill();
  folder[Symbol.dispose]();
});

/** For clients that know nothing but files over HTTP. */
function makeRepository(): void {
  const work = folder.file('work');
  const git = (...args: string[]): void => {
    execFileSync('git', ['-C', work, '-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args]);
  };
  mkdirSync(work);
  git('init', '-q');
  writeFileSync(join(work, 'file'), 'from the repository\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  execFileSync('git', ['clone', '-q', '--bare', work, folder.file('repository.git')]);
  execFileSync('git', ['-C', folder.file('repository.git'), 'update-server-info']);
}

function makeRegistry(): void {
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(folder.file(name)), { recursive: true });
    writeFileSync(folder.file(name), text);
  };
  const version = { name: 'left', version: '1.2.3', dist: { tarball: url('left-1.2.3.tgz') } };
  write('package/package.json', JSON.stringify({ name: 'left', version: '1.2.3' }));
  execFileSync('tar', ['-C', folder.path, '-czf', folder.file('left-1.2.3.tgz'), 'package']);
  write(
    'left',
    JSON.stringify({ name: 'left', 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': version } }),
  );
}

function makeIndex(): void {
  const directory = folder.file('simple/right');
  mkdirSync(directory, { recursive: true });
  const wheel = 'right-1.0-py3-none-any.whl';
  execFileSync('python3', ['-c', MAKE_WHEEL, join(directory, wheel)]);
  writeFileSync(join(directory, 'index.html'), `<a href="${wheel}">${wheel}</a>`);
}

const url = (path: string): string => `http://127.0.0.1:${port}/${path}`;

const sandbox = (network: { allow: string[]; deny?: string[] }) => ({ policy: 'workspace-write', network });

async function run(env: Environment, argv: string[], options: { cwd?: string } = {}) {
  return await env.run(argv, { env: { HOME: folder.path }, ...options });
}

/** From this version on, Node reads the variables itself. */
const FETCH_USES_PROXIES = Number(process.versions.node.split('.')[0]) >= 24;

describe('everyday tools find their way through', () => {
  let env: Environment;
  beforeAll(async () => {
    env = await openEnvironment('local', {
      sandbox: { ...sandbox({ allow: [`127.0.0.1:${port}`] }), workspace: folder.path },
    });
  });
  afterAll(() => env.close());

  const tools: [string, () => string[], RegExp][] = [
    ['curl', () => ['curl', '-sS', url('work/file')], /from the repository/],
    [
      'curl over socks',
      () => ['sh', '-c', `curl -sS -x "$ALL_PROXY" ${url('work/file')}`],
      /from the repository/,
    ],
    ['wget', () => ['wget', '-qO-', url('work/file')], /from the repository/],
    [
      'git',
      () => ['sh', '-c', `git clone -q ${url('repository.git')} cloned && cat cloned/file`],
      /from the repository/,
    ],
    [
      'python',
      () => [
        'python3',
        '-c',
        `import urllib.request; print(urllib.request.urlopen("${url('work/file')}").read())`,
      ],
      /from the repository/,
    ],
    [
      'npm',
      () => ['npm', 'view', 'left', 'version', '--cache', folder.file('.npm'), '--registry', url('')],
      /1\.2\.3/,
    ],
    [
      'npm install',
      () => [
        ...['npm', 'install', 'left', '--prefix', folder.file('app'), '--cache', folder.file('.npm')],
        ...['--registry', url(''), '--no-audit', '--no-fund'],
      ],
      /added 1 package/,
    ],
    [
      'pip',
      () => [
        'sh',
        '-c',
        `python3 -m pip install -q --disable-pip-version-check --no-cache-dir --target site --index-url ${url('simple/')} right;
          PYTHONPATH=site python3 -c 'import right; print(right.said)'`,
      ],
      /from the index/,
    ],
    [
      'python requests',
      () => [
        'python3',
        '-c',
        `from pip._vendor import requests; print(requests.get("${url('work/file')}").text)`,
      ],
      /from the repository/,
    ],
    [
      'websockets',
      () => [process.execPath, '-e', SOCKET_CLIENT, WS_FOR_REQUIRE, String(port)],
      /from a websocket/,
    ],
    ...(FETCH_USES_PROXIES
      ? ([
          [
            'fetch',
            () => [
              process.execPath,
              '-e',
              `fetch("${url('work/file')}").then((r) => r.text()).then(console.log)`,
            ],
            /from the repository/,
          ],
        ] satisfies [string, () => string[], RegExp][])
      : []),
  ];
  test.each(tools)('%s', { timeout: 60_000 }, async (_name, argv, expected) => {
    const { stdout, stderr } = await run(env, argv(), { cwd: folder.path });
    expect(`${stdout}${stderr}`).toMatch(expected);
  });
});

test('nobody comes too early: the first requests of programs find the proxy', {
  timeout: 120_000,
}, async () => {
  const config = folder.file('urls');
  writeFileSync(config, `url = "${url('echo')}"\noutput = "/dev/null"\n`.repeat(20));
  let answers = '';
  for (let session = 0; session < 5; session += 1) {
    // Each has a network of its own.
    await using env = await openEnvironment('local', { sandbox: sandbox({ allow: [`127.0.0.1:${port}`] }) });
    const starts = Array.from({ length: 10 }, () =>
      env.run(['curl', '-sS', '-Z', '--parallel-immediate', '-w', '%{http_code} ', '-K', config]),
    );
    for (const { stdout } of await Promise.all(starts)) answers += stdout;
  }
  expect(answers).toBe('200 '.repeat(1_000));
});

describe.each(['here', 'on a server'])('rules for hosts %s', (where) => {
  let server: ServerProcess | undefined;
  beforeAll(async () => {
    server = where === 'here' ? undefined : await ServerProcess.start();
  });
  afterAll(() => server?.stop());
  const open = (rules: { allow: string[]; deny?: string[] }) =>
    openEnvironment(server?.url ?? 'local', { sandbox: sandbox(rules) });

  test('hold, and the end says what they kept a program from', async () => {
    await using env = await open({ allow: ['*.example.org'], deny: ['bad.example.org'] });
    const child = await env.start({
      argv: [
        'sh',
        '-c',
        `curl -sS http://bad.example.org/ ; curl -sS ${url('echo')}; curl -sSf https://example.net/`,
      ],
    });
    const events = [];
    for await (const event of child.events()) events.push(event);
    const exited = events.find(({ type }) => type === 'exited');
    expect(exited).toMatchObject({
      sandboxDenied: true,
      networkDenied: [
        { host: 'bad.example.org', port: 80, reason: 'denied' },
        { host: 'example.net', port: 443, reason: 'not_allowed' },
      ],
    });
  });

  test('a pattern that cannot be understood is refused, and nothing runs', async () => {
    await using env = await open({ allow: ['http://example.org'] });
    await expect(env.start({ argv: ['true'] })).rejects.toMatchObject({
      code: 'invalidParams',
      message: expect.stringContaining('http://example.org'),
    });
  });

  test('a program without a host it needs ends as it would, and no sandbox is left', async () => {
    await using env = await open({ allow: [] });
    for (let round = 0; round < 5; round += 1) {
      const { exitCode, stdout } = await env.run([
        'sh',
        '-c',
        'curl -sSo /dev/null -w "%{http_code}" http://a.example',
      ]);
      expect([exitCode, stdout]).toEqual([0, '403']);
    }
  });
});

test('the command line allows hosts and names what it kept a program from', async () => {
  const allowed = new CommandLine([
    'run',
    '--sandbox',
    'read-only',
    '--network',
    `allow=127.0.0.1:${port}`,
    '--',
    'curl',
    '-sS',
    url('echo'),
  ]);
  expect((await allowed.result()).stdout).toBe(`127.0.0.1:${port}`);
  const denied = new CommandLine([
    'run',
    '--sandbox',
    'read-only',
    '--network',
    'allow=*.example.org deny=a.example.org',
    '--',
    'curl',
    '-sSfo/dev/null',
    'http://registry.example/',
  ]);
  const { code, stderr } = await denied.result();
  expect(code).not.toBe(0);
  expect(stderr).toContain(
    'The network policy denied access to registry.example:80 (not allowed). To allow: --network allow=registry.example',
  );
});

test('hosts that are denied are in the audit file', async () => {
  const audit = folder.file('audit');
  await using server = await ServerProcess.start({ args: ['--audit', audit] });
  await using env = await openEnvironment(server.url, { sandbox: sandbox({ allow: [] }) });
  await env.run(['sh', '-c', 'for i in 1 2; do curl -sS -o /dev/null http://a.example/; done']);
  const events = readFileSync(audit, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  const denied = events.filter((each) => 'event' in each && each.event === 'networkDenied');
  expect(denied).toEqual([
    {
      time: expect.any(String),
      event: 'networkDenied',
      session: expect.any(String),
      processId: expect.any(String),
      host: 'a.example',
      port: 80,
      reason: 'not_allowed',
    },
  ]);
});

test('nobody is told to allow what a rule denies', async () => {
  const { stderr } = await new CommandLine([
    ...['run', '--sandbox', 'read-only', '--network', 'allow=* deny=a.example'],
    ...['--', 'curl', '-sSf', 'http://a.example/'],
  ]).result();
  expect(stderr).toContain('The network policy denied access to a.example:80 (denied).');
  expect(stderr).not.toContain('To let it');
});

test('a machine without rules for hosts gives no network instead of all of it', async () => {
  await using env = new LocalEnvironment();
  const { namedSandbox } = await import('../../src/policy/index.js');
  const made = namedSandbox(sandbox({ allow: ['*'] }), { workspace: '/tmp' });
  expect(made?.permissions).toMatchObject({ network: 'restricted' });
  const { networkRules: _unknown, ...older } = made ?? { permissions: { type: 'disabled' } };
  const { stdout } = await env.run(['sh', '-c', `curl -sS --noproxy '*' ${url('echo')} || echo none`], {
    sandbox: older,
  });
  expect(stdout).toBe('none\n');
});

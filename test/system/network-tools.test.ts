// Needs: bwrap, python3
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Environment } from '../../src/contract/index.js';
import { openEnvironment } from '../../src/index.js';
import { runOnNamedNetwork, SITE_PORT } from '../harness/named-network.js';
import { isInstalled } from '../harness/needed-programs.js';
import { TestFolder } from '../harness/processes.js';
import { identities } from '../host/sandbox/harness.js';

const SERVE =
  'import http.server as s; h = s.HTTPServer(("127.0.0.1", 0), s.SimpleHTTPRequestHandler); print(h.server_port, flush=True); h.serve_forever()';

let folder: TestFolder;
let site: ReturnType<typeof spawn>;
let env: Environment;
let url: string;
beforeAll(async () => {
  folder = new TestFolder();
  site = spawn('python3', ['-c', SERVE], { cwd: folder.path, stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(site.stdout ?? site, 'data')) as [Buffer];
  const place = `127.0.0.1:${Number(line.toString())}`;
  url = `http://${place}`;
  env = await openEnvironment('local', {
    sandbox: { policy: 'workspace-write', network: { allow: [place] }, workspace: folder.path },
  });
});
afterAll(async () => {
  await env.close();
  site.kill();
  folder[Symbol.dispose]();
});

function write(name: string, text: string): void {
  mkdirSync(dirname(folder.file(name)), { recursive: true });
  writeFileSync(folder.file(name), text);
}

async function run(script: string, variables: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr } = await env.run(['sh', '-c', script], {
    cwd: folder.path,
    env: { HOME: folder.path, ...variables },
  });
  return `${stdout}${stderr}`;
}

test.skipIf(!isInstalled('cargo'))('cargo fetches a crate', { timeout: 120_000 }, async () => {
  write('left-1.2.3/Cargo.toml', '[package]\nname = "left"\nversion = "1.2.3"\nedition = "2021"\n');
  write('left-1.2.3/src/lib.rs', '');
  mkdirSync(folder.file('crates'), { recursive: true });
  execFileSync('tar', ['-C', folder.path, '-czf', folder.file('crates/left'), 'left-1.2.3']);
  const cksum = createHash('sha256')
    .update(readFileSync(folder.file('crates/left')))
    .digest('hex');
  write('index/config.json', JSON.stringify({ dl: `${url}/crates/{crate}` }));
  const row = { name: 'left', vers: '1.2.3', deps: [], cksum, features: {}, yanked: false };
  write('index/le/ft/left', `${JSON.stringify(row)}\n`);
  write(
    'app/.cargo/config.toml',
    `[source.crates-io]\nreplace-with = "ours"\n[source.ours]\nregistry = "sparse+${url}/index/"\n`,
  );
  write(
    'app/Cargo.toml',
    '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nleft = "1"\n',
  );
  write('app/src/lib.rs', '');
  const said = await run('cd app && cargo fetch && ls $CARGO_HOME/registry/src/*', {
    CARGO_HOME: folder.file('cargo-home'),
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? `${userInfo().homedir}/.rustup`,
  });
  expect(said).toMatch(/^left-1\.2\.3$/m);
});

test.skipIf(!isInstalled('apt-get'))('apt-get reads an archive', { timeout: 120_000 }, async () => {
  write(
    'archive/Packages',
    'Package: left\nVersion: 1.2.3\nArchitecture: all\nFilename: ./left.deb\nSize: 0\n',
  );
  write('apt/sources.list', `deb [trusted=yes] ${url}/archive ./\n`);
  for (const name of ['apt/lists/partial', 'apt/cache/archives/partial', 'apt/empty', 'apt/log'])
    mkdirSync(folder.file(name), { recursive: true });
  write('apt/status', '');
  const at = (name: string): string => folder.file(`apt/${name}`);
  const options = [
    ...[`Dir::Etc::sourcelist=${at('sources.list')}`, `Dir::Etc::sourceparts=${at('empty')}`],
    ...[`Dir::State=${at('')}`, `Dir::State::lists=${at('lists')}`, `Dir::State::status=${at('status')}`],
    ...[
      `Dir::Cache=${at('cache')}`,
      `Dir::Log=${at('log')}`,
      'APT::Sandbox::User=',
      'Acquire::Languages=none',
    ],
  ].map((each) => `-o ${each}`);
  const said = await run(`apt-get update ${options.join(' ')} && apt-cache policy left ${options.join(' ')}`);
  expect(said).toMatch(/Candidate: 1\.2\.3/);
});

/** The zip of a Go module. */
const MAKE_MODULE = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as module:
    module.writestr('example.test/left@v1.2.3/go.mod', 'module example.test/left\\n')
    module.writestr('example.test/left@v1.2.3/left.go', 'package left\\n')
`;

const FETCH = `
import java.net.*;
public class Fetch {
  public static void main(String[] args) throws Exception {
    String said = new String(new URL(args[0]).openStream().readAllBytes());
    System.out.println(said + " " + System.getProperty("own"));
  }
}`;

test.skipIf(!isInstalled('javac'))(
  'Java fetches, and keeps its own options',
  { timeout: 120_000 },
  async () => {
    write('Fetch.java', FETCH);
    write('hello', 'from the site');
    const said = await run(`java Fetch.java ${url}/hello`, { JAVA_TOOL_OPTIONS: '-Down=kept' });
    expect(said).toContain('from the site kept');
  },
);

/** Programs written in Go use no proxy for loopback, so they need names. */
const NAMES = { 'site.test': [['127.0.0.1']] };
const NAMED = `http://site.test:${SITE_PORT}`;

async function runWithNames(script: string, env: Record<string, string>): Promise<string> {
  const [identity] = identities;
  if (!identity) throw new Error('nobody to run as');
  const { stdout, stderr, heard } = await runOnNamedNetwork(
    { identity, names: NAMES, directory: folder.path, env },
    [
      ...[
        'run',
        '--cwd',
        folder.path,
        '--sandbox',
        'workspace-write',
        '--network',
        'allow=site.test,127.0.0.1',
      ],
      ...['--', 'sh', '-c', script],
    ],
  );
  expect(heard.join()).toContain('site.test');
  return `${stdout}${stderr}`;
}

test.skipIf(!isInstalled('go'))('go downloads a module', { timeout: 120_000 }, async () => {
  const version = 'example.test/left/@v/v1.2.3';
  write(`${version}.info`, '{"Version":"v1.2.3"}');
  write(`${version}.mod`, 'module example.test/left\n');
  execFileSync('python3', ['-c', MAKE_MODULE, folder.file(`${version}.zip`)]);
  write('module/go.mod', 'module example.test/app\n\ngo 1.19\n\nrequire example.test/left v1.2.3\n');
  const go = { GOPROXY: NAMED, GOFLAGS: '-mod=mod', GONOSUMDB: '*', GOTOOLCHAIN: 'local' };
  const caches = { GOPATH: folder.file('go'), GOCACHE: folder.file('go-cache') };
  const said = await runWithNames('cd module && go mod download -x && ls "$GOPATH/pkg/mod/example.test"', {
    ...go,
    ...caches,
  });
  expect(said).toMatch(/^left@v1\.2\.3$/m);
});

test.skipIf(!isInstalled('docker'))('docker asks an engine over TCP', { timeout: 120_000 }, async () => {
  write('_ping', 'OK');
  write('v1.41/version', JSON.stringify({ Version: 'from the engine', ApiVersion: '1.41' }));
  const said = await runWithNames(`docker version --format '{{.Server.Version}}'`, {
    DOCKER_HOST: NAMED.replace('http', 'tcp'),
    DOCKER_API_VERSION: '1.41',
    DOCKER_CONFIG: folder.file('docker'),
  });
  expect(said).toContain('from the engine');
});

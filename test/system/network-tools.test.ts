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
import { isInstalled } from '../harness/needed-programs.js';
import { TestFolder } from '../harness/processes.js';

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

const FETCH = `
import java.net.*;
public class Fetch {
  public static void main(String[] args) throws Exception {
    System.out.println(new String(new URL(args[0]).openStream().readAllBytes()));
  }
}`;

test.skipIf(!isInstalled('javac'))('Java fetches, told by properties', { timeout: 120_000 }, async () => {
  write('Fetch.java', FETCH);
  write('hello', 'from the site');
  const properties = '-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort="${HTTP_PROXY##*:}" -Dhttp.nonProxyHosts=';
  expect(await run(`java ${properties} Fetch.java ${url}/hello`)).toContain('from the site');
});

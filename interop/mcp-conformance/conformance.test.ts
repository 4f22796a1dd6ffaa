import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/environment/index.js';
import { type McpHttpServer, startMcpHttp } from '../../src/mcp/index.js';
import { Child } from '../harness/child.js';
import { cleanEnv } from '../harness/clean-env.js';
import { openRunDirectory, type RunDirectory } from '../harness/run-directory.js';
import { openTokenProxy, type TokenProxy } from './token-proxy.js';

const modules = fileURLToPath(new URL('node_modules', import.meta.url));
const node = join(modules, `node-linux-${process.arch}`, 'bin', 'node');
const suite = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

/** Those that ask for nothing but what we offer. The others call tools, prompts and resources of their reference server. */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-error',
  'resources-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

const environment = new LocalEnvironment();
let server: McpHttpServer;
let proxy: TokenProxy;
let run: RunDirectory;
beforeAll(async () => {
  run = await openRunDirectory();
  server = await startMcpHttp({ environment, version: '0.0.0' });
  proxy = await openTokenProxy(server.url, `Bearer ${server.token}`);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await server.close();
  await environment.close();
  await run[Symbol.asyncDispose]();
});

test.each(SCENARIOS)('the official suite finds no fault: %s', async (scenario) => {
  const argv = [node, suite, 'server', '--url', proxy.url, '--scenario', scenario];
  await using child = new Child({ argv, cwd: run.workspace, env: cleanEnv(run.clientHome) });
  const { code } = await child.ended;
  expect([code, child.stdout]).toEqual([0, expect.stringMatching(/Passed: (\d+)\/\1, 0 failed, 0 warnings/)]);
});

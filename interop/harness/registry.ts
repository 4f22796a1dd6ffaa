import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bin, codexProgram } from '../../testkit/launch.mjs';
import { Child } from './child.js';
import { cleanEnv } from './clean-env.js';
import type { RunDirectory } from './run-directory.js';
import { giveUpIfLate } from './wait-limit.js';

export const environmentId = 'build-7';

/** In the directory where machines are started. */
const tokenFile = 'executor.token';

/** Who may do what at a registry. */
const executorToken = randomBytes(32).toString('hex');
const clientToken = randomBytes(32).toString('hex');

/** How Codex finds its machine through a registry. */
export function noiseVariables(registryUrl: string): Record<string, string> {
  return {
    CODEX_EXEC_SERVER_NOISE_REGISTRY_URL: registryUrl,
    CODEX_EXEC_SERVER_NOISE_ENVIRONMENT_ID: environmentId,
    CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: clientToken,
  };
}

/** How our own client finds the same machine. */
export function clientPlace(url: string): { url: string; environmentId: string; token: string } {
  return { url, environmentId, token: clientToken };
}

/** A gateway that is a registry and nothing else. */
export interface RegistryProcess extends AsyncDisposable {
  /** As a WebSocket URL, for proxies. */
  readonly url: string;
  /** Everything it has logged. */
  readonly log: () => string;
  /** Resolves when it has logged this text so often. */
  readonly says: (text: string, times?: number) => Promise<void>;
  readonly crash: () => Promise<void>;
}

/** Starts one, on a port of its choice or on one it had before. */
export async function startRegistry(
  run: RunDirectory,
  listen = 'ws://127.0.0.1:0',
): Promise<RegistryProcess> {
  const file = join(run.outside, 'registry.toml');
  await writeFile(join(run.outside, tokenFile), executorToken);
  await writeFile(join(run.outside, 'client.token'), clientToken);
  await writeFile(file, `${entry('executors', executorToken)}\n${entry('clients', clientToken)}`);
  const child = new Child({
    argv: [process.execPath, bin, 'gateway', '--registry', file, '--listen', listen, '--log-format', 'json'],
    cwd: run.outside,
    env: cleanEnv(run.serverHome),
  });
  const says = async (text: string, times = 1): Promise<void> => {
    const since = performance.now();
    while (child.stderr.split(text).length <= times) {
      giveUpIfLate(since, `the registry to log "${text}"; it has logged:\n${child.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return {
    url: await child.firstLine(),
    log: () => child.stderr,
    says,
    crash: () => child.kill(),
    [Symbol.asyncDispose]: () => child.stop(),
  };
}

function entry(list: string, token: string): string {
  const digest = createHash('sha256').update(token).digest('hex');
  return `[[${list}]]\nname = "somebody"\ntoken_sha256 = "${digest}"\nenvironments = ["build-*"]\n`;
}

/** The programs that join a registry. Each gets its token in the way it expects: in a variable, or in a file. */
export const executors = {
  codex: (url: string) => [
    ...codexProgram,
    'exec-server',
    '--remote',
    url,
    '--environment-id',
    environmentId,
  ],
  execwire: (url: string) => [
    process.execPath,
    bin,
    'serve',
    '--remote',
    url,
    '--environment-id',
    environmentId,
    '--remote-token-file',
    tokenFile,
  ],
};

/** Starts an executor. `variables`: more of its environment. */
export function startExecutor(
  argv: readonly string[],
  { run, variables = {} }: { run: RunDirectory; variables?: Record<string, string> },
): Child {
  const env = { ...cleanEnv(run.serverHome), CODEX_API_KEY: executorToken, ...variables };
  return new Child({ argv, cwd: run.outside, env });
}

/** Our own client, which runs one program. */
export function startClient(url: string, run: RunDirectory, program: readonly string[]): Child {
  const machine = `${url}/cloud/environment/${environmentId}`;
  const argv = [
    process.execPath,
    bin,
    'run',
    '-e',
    machine,
    '--token-file',
    'client.token',
    '--',
    ...program,
  ];
  return new Child({ argv, cwd: run.outside, env: cleanEnv(run.clientHome) });
}

/** The address for calls, from the address for WebSockets. */
export function callUrl(url: string): string {
  return url.replace(/^ws/, 'http');
}

import { Command } from 'commander';
import type { Environment, NetworkAsker } from '../../contract/index.js';
import { LocalEnvironment } from '../../environment/index.js';
import { leaveHost, newSetId, version } from '../../host/index.js';
import type { McpOptions } from '../../mcp/index.js';
import { readTextFile } from '../../environment/text-file.js';
import { ExecError, type Sandbox } from '../../protocol/index.js';
import { createLog, type LogFormat, type LogLevel } from '../log.js';
import { type LimitFlags, limitsFrom, withLimits } from '../options/limit-options.js';
import { addLogOptions } from '../options/listen-options.js';
import { asksAboutHosts, type SandboxFlags, sandboxFrom, withSandbox } from '../options/sandbox-options.js';
import { makeThreadPool } from '../thread-pool.js';
import { spreadSafetyNet } from './safety-net.js';
import { openTarget, type TargetFlags, targetWords, withTarget } from '../options/target-options.js';
import { refuseShortToken } from '../options/token-length.js';
import { guardTrees } from './guard-trees.js';
import { admission, hideOwnDoors } from './own-doors.js';

interface McpFlags extends SandboxFlags, TargetFlags, LimitFlags {
  readonly cwd?: string;
  readonly tools?: string;
  readonly structured?: boolean;
  readonly listen: string;
  readonly listenTokenFile?: string;
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
}

export function mcpCommand(): Command {
  const command = new Command('mcp')
    .summary('serve tools for models over MCP')
    .description(
      'Serve commands and files of a machine as tools for models, over the Model Context Protocol.\n\n' +
        'On stdio, for the program that started it; on HTTP, for programs on this machine that know the token. ' +
        'Everything it started ends with it.',
    )
    .option('-w, --cwd <directory>', 'where commands run, and what relative paths refer to')
    .option('--tools <names>', 'offer only these tools, separated by commas')
    .option('--structured', 'also send results as JSON; clients then show models that instead of the text')
    .option('--listen <where>', 'stdio, or http://127.0.0.1:PORT', 'stdio')
    .option(
      '--listen-token-file <file>',
      'with --listen: file with the bearer token clients send; by default, a new one is generated and printed',
    );
  return addLogOptions(withLimits(withSandbox(withTarget(command))), 'warn').action(serveMcp);
}

/** Before the listener's token had a name of its own, `--token-file` was it. Without a URL it can mean nothing else. */
function withListenToken(flags: McpFlags): McpFlags {
  const { tokenFile, listenTokenFile, environment = '', listen, ...rest } = flags;
  const isForListener = tokenFile !== undefined && listen !== 'stdio' && !environment.includes('://');
  if (!isForListener || listenTokenFile !== undefined) return flags;
  say('the token of --listen is now given with --listen-token-file.');
  return { ...rest, listen, listenTokenFile: tokenFile, ...(environment ? { environment } : {}) };
}

async function serveMcp(given: McpFlags): Promise<void> {
  const flags = withListenToken(given);
  const threads = makeThreadPool();
  spreadSafetyNet(await createLog({ format: flags.logFormat, level: flags.logLevel }));
  await threads;
  const tools = flags.tools?.split(',').map((name) => name.trim());
  const { NetworkElicitation } = await import('../../mcp/index.js');
  const network = asksAboutHosts(flags) ? new NetworkElicitation() : undefined;
  const { environment, opened } = await beginEnvironment(flags, network?.ask);
  await using _closed = environment;
  if (environment instanceof LocalEnvironment) guardTrees();
  hideOwnDoors({ files: [flags.tokenFile, flags.listenTokenFile] });
  const stop = stopOnSignals();
  const asked = await sandboxFrom(flags, environment);
  const sandbox = withSet(asked);
  const changesId = sandbox?.changesId;
  if (changesId !== undefined)
    say(`changes are held; show them with: execwire changes diff ${targetWords(flags)}${changesId}`);
  const { cwd, structured } = flags;
  const limits = limitsFrom(flags);
  const options = { environment, version, tools, sandbox, cwd, limits, structured, network };
  if (flags.listen === 'stdio') {
    const refused = new AbortController();
    opened.catch(() => refused.abort());
    await serveStdio(options, AbortSignal.any([stop, refused.signal]));
    // Says why.
    if (refused.signal.aborted) await opened;
  } else {
    // Once the address is printed, the machine must be usable.
    await opened;
    await serveHttp(
      { ...options, port: portOf(flags.listen), token: tokenFrom(flags.listenTokenFile) },
      stop,
    );
  }
  if (changesId !== undefined)
    await summarize(environment, { changesId, isNew: !asked?.changesId, target: flags });
  await environment.close();
  leaveHost();
  process.exit(0);
}

/** All clients and all their commands build on each other. */
function withSet(sandbox: Sandbox | null | undefined): Sandbox | null | undefined {
  return sandbox?.changes ? { ...sandbox, changesId: sandbox.changesId ?? newSetId() } : sandbox;
}

/** The machine may be gone by now, and nothing may have been changed. */
async function summarize(
  environment: Environment,
  of: { changesId: string; isNew: boolean; target: TargetFlags },
): Promise<void> {
  const { summarizeChanges } = await import('./changes-summary.js');
  await summarizeChanges(environment, of).catch(() => undefined);
}

function say(text: string): void {
  process.stderr.write(`execwire mcp: ${text}\n`);
}

/** The environment as soon as requests can be sent: the first tool call does not wait for the handshake. */
async function beginEnvironment(
  flags: TargetFlags,
  onNetworkRequest: NetworkAsker | undefined,
): Promise<{ environment: Environment; opened: Promise<Environment> }> {
  return await new Promise((resolve, reject) => {
    const begun = (environment: Environment): void => resolve({ environment, opened });
    const opened = openTarget(flags, {
      clientName: 'execwire mcp',
      onOpening: begun,
      onNetworkRequest,
    });
    opened.then(begun, reject);
  });
}

type Serving = Pick<
  McpOptions,
  'environment' | 'version' | 'tools' | 'sandbox' | 'cwd' | 'limits' | 'structured' | 'network'
>;

async function serveStdio(options: Serving, signal: AbortSignal): Promise<void> {
  // A stray print must not end up between two messages.
  console.log = console.error;
  const { runMcpStdio } = await import('../../mcp/index.js');
  await runMcpStdio({ ...options, signal });
}

async function serveHttp(
  options: Serving & { port: number; token: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { startMcpHttp } = await import('../../mcp/index.js');
  const log = { warn: (_: object, message: string) => process.stderr.write(`${message}\n`) };
  const admits = admission(log);
  await using server = await startMcpHttp({
    ...options,
    admission: (socket) => admits(socket, { authenticated: true }),
  });
  process.stdout.write(`${server.url}\n`);
  if (options.token === undefined) process.stdout.write(`Authorization: Bearer ${server.token}\n`);
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Aborted by the first termination signal; the second one exits immediately. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
    });
  }
  return stop.signal;
}

function portOf(listen: string): number {
  const port = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::(\d{1,5}))?\/?$/.exec(listen);
  if (!port) {
    throw new ExecError('invalidConfiguration', '--listen takes stdio or http://127.0.0.1:PORT.');
  }
  return Number(port[1] ?? 0);
}

function tokenFrom(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const token = readTextFile(file).trim();
  if (!/^\S+$/.test(token)) {
    throw new ExecError('invalidConfiguration', 'The --listen-token-file must contain exactly one word.');
  }
  refuseShortToken(token, '--listen-token-file');
  return token;
}

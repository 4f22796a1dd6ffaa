import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { Command, Option } from 'commander';
import { DEFAULT_RETAINED_BYTES } from '../../contract/index.js';
import { DEFAULT_MAX_PROCESSES, dismissWatchdog, hostCapabilities } from '../../host/index.js';
import { ExecError } from '../../protocol/index.js';
import {
  DEFAULT_MAX_SESSIONS,
  DEFAULT_SESSION_TTL_MS,
  type ExecServer,
  type ServerLog,
  type Serving,
  serve as serveMachine,
} from '../../server/index.js';
import { type CompressionUse, LineChannel, parseListenAddress } from '../../transport/index.js';
import { acceptErrors } from './accept-errors.js';
import { type AuthFlags, authFromFlags, plainTokenWarning } from '../options/auth-options.js';
import { guardTrees } from './guard-trees.js';
import { addListenOptions, addLogOptions, collect, wholeNumber } from '../options/listen-options.js';
import { lazyCollector } from '../garbage-collector.js';
import { createLog, type LogFormat, type LogLevel } from '../log.js';
import { admission, hideOwnDoors } from './own-doors.js';
import { spreadSafetyNet } from './safety-net.js';
import { requireAddressSpace } from '../address-space.js';
import { keepHeapSmall } from '../small-heap.js';
import { makeThreadPool } from '../thread-pool.js';

const DEFAULT_LISTEN = 'ws://127.0.0.1:0';

interface ServeFlags extends AuthFlags {
  readonly listen: string[];
  readonly allowHost: string[];
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly sessionTtl: number;
  readonly maxSessions: number;
  readonly maxProcesses: number;
  readonly retainBytes: number;
  readonly compression: CompressionUse;
  readonly http: boolean;
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
}

export function serveCommand(): Command {
  const command = new Command('serve')
    .summary('serve this machine to clients')
    .description(
      'Serve this machine: run processes and touch files for whoever connects.\n\n' +
        'Prints one line per listener on stdout, its bound URL, once it is ready. Logs go to stderr.',
    )
    .option(
      '--listen <url>',
      `ws://IP:PORT, wss://IP:PORT, unix:///PATH or stdio; may be repeated (default: ${DEFAULT_LISTEN})`,
      collect,
      [],
    )
    .option('--tls-cert <file>', 'certificate chain (PEM); serves wss:// instead of ws://')
    .option('--tls-key <file>', 'private key (PEM) for --tls-cert');
  addListenOptions(command)
    .option(
      '--session-ttl <seconds>',
      'how long a session outlives its connection',
      wholeNumber,
      DEFAULT_SESSION_TTL_MS / 1000,
    )
    .option('--max-sessions <n>', 'sessions kept at a time', wholeNumber, DEFAULT_MAX_SESSIONS)
    .option('--max-processes <n>', 'processes per session', wholeNumber, DEFAULT_MAX_PROCESSES)
    .option(
      '--retain-bytes <n>',
      'output kept per process for late readers',
      wholeNumber,
      DEFAULT_RETAINED_BYTES,
    )
    .addOption(
      new Option('--compression <whose>', 'whose output is compressed where the line is slow')
        .choices(['remote', 'always', 'never'])
        .default('remote'),
    )
    .option('--no-http', 'do not send HTTP requests for clients');
  return addLogOptions(command).action(serve);
}

async function serve(flags: ServeFlags): Promise<void> {
  requireAddressSpace();
  keepHeapSmall();
  const threads = makeThreadPool();
  const addresses = flags.listen.length > 0 ? flags.listen : [DEFAULT_LISTEN];
  const stdio = addresses.some((text) => parseListenAddress(text).kind === 'stdio');
  const auth = authFromFlags(flags);
  if (auth && stdio) {
    throw new ExecError('invalidConfiguration', '--ws-auth does not go with --listen stdio.');
  }
  const log = await createLog({ format: flags.logFormat, level: flags.logLevel });
  spreadSafetyNet(log);
  guardTrees(log);
  log.debug({ ...hostCapabilities() }, 'this machine');
  hideOwnDoors({ files: [flags.wsTokenFile, flags.wsSharedSecretFile, flags.tlsKey] });
  await threads;
  const starting = serveMachine({
    listen: addresses.filter((text) => parseListenAddress(text).kind !== 'stdio'),
    auth,
    tls: tlsFromFlags(flags),
    allowedHosts: flags.allowHost,
    onAcceptError: acceptErrors(log),
    admission: admission(log),
    sessionTtlMs: flags.sessionTtl * 1000,
    maxSessions: flags.maxSessions,
    maxProcesses: flags.maxProcesses,
    retainedBytes: flags.retainBytes,
    compression: flags.compression,
    http: flags.http,
    collectGarbage: lazyCollector(),
    log,
  });
  const shutDown = onceShutDown(starting, log);
  const { urls, server } = await starting;
  if (stdio) serveStdio(server, shutDown);
  warnOfPlainTokens(addresses, flags, log);
  for (const url of urls) process.stdout.write(`${url}\n`);
  const [first] = urls;
  if (first && flags.logFormat === 'human' && flags.logLevel !== 'silent') printNextSteps(first);
}

function warnOfPlainTokens(addresses: readonly string[], flags: ServeFlags, log: ServerLog): void {
  const { tlsCert, insecure } = flags;
  for (const text of addresses) {
    const remedy = 'add --tls-cert and --tls-key';
    const warning = plainTokenWarning(parseListenAddress(text), {
      encrypted: tlsCert !== undefined,
      insecure,
      remedy,
    });
    if (warning !== null) log.warn({}, warning);
  }
}

/** Serves the one client at the other end of stdin and stdout; when it goes, so do we. */
function serveStdio(server: ExecServer, shutDown: (why: string) => void): void {
  const channel = new LineChannel({ label: 'stdio', input: process.stdin, output: process.stdout });
  // A stray print must not end up between two messages.
  console.log = console.error;
  void server.accept(channel, { resumable: false }).then(() => shutDown('the client is gone'));
}

/** Ends everything in good order, once: on a signal, or when the stdio client is gone. */
function onceShutDown(starting: Promise<Serving>, log: ServerLog): (why: string) => void {
  let begun = false;
  const shutDown = (why: string): void => {
    // A second signal means now: the watchdog takes care of what is left.
    if (begun) process.exit(1);
    begun = true;
    log.info({ why }, 'shutting down');
    void starting
      .then((serving) => serving.close())
      .then(() => {
        dismissWatchdog();
        process.exit(0);
      });
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => shutDown(signal));
  return (why) => {
    if (!begun) shutDown(why);
  };
}

function tlsFromFlags(flags: ServeFlags): { cert: Buffer; key: Buffer } | undefined {
  const { tlsCert, tlsKey } = flags;
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new ExecError('invalidConfiguration', '--tls-cert and --tls-key go together.');
  }
  try {
    return { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) };
  } catch (cause) {
    throw new ExecError('invalidConfiguration', 'Cannot read the files of --tls-cert and --tls-key.', {
      cause,
    });
  }
}

function printNextSteps(url: string): void {
  const self = commandName();
  process.stderr.write(
    [
      '',
      `Serving this machine on ${url}. Press Ctrl-C to stop.`,
      `  run a command here:              ${self} run -e ${url} -- uname -a`,
      `  open a shell here:               ${self} shell -e ${url}`,
      `  let Codex run its commands here: CODEX_EXEC_SERVER_URL=${url} codex`,
      '',
    ].join('\n'),
  );
}

/** What to type to get this program again: its name where it is installed, else the file it was started from. */
function commandName(): string {
  const script = process.argv[1] ?? 'execwire';
  return basename(script) === 'execwire' ? 'execwire' : `node ${relative(process.cwd(), script)}`;
}

import { Command, Option } from 'commander';
import { DEFAULT_RETAINED_BYTES } from '../../contract/index.js';
import { DEFAULT_MAX_PROCESSES, leaveHost, hostCapabilities } from '../../host/index.js';
import { ExecError } from '../../protocol/index.js';
import {
  DEFAULT_KEEP_ENDED_MS,
  DEFAULT_MAX_KEPT_PROCESSES,
  DEFAULT_MAX_SESSIONS,
  DEFAULT_SESSION_TTL_MS,
  type ExecServer,
  type ServerLog,
  serve as serveMachine,
} from '../../server/index.js';
import { type CompressionUse, LineChannel, parseListenAddress } from '../../transport/index.js';
import { logAcceptErrors } from './accept-errors.js';
import { type AuthFlags, authFromFlags, plainTokenWarning } from '../options/auth-options.js';
import { addConsoleTokenOption, DEFAULT_CONSOLE_URL } from '../options/console-options.js';
import { consoleOf, type ServeConsoleFlags } from './serve-console.js';
import { type DurableFlags, durableFromFlags, type DurableServer } from './durable.js';
import { addFleetOptions, type FleetFlags, fleetFiles, serveFleet } from './serve-fleet.js';
import { addRemoteOptions, type RemoteFlags, serveRemote } from './serve-remote.js';
import { guardTrees } from './guard-trees.js';
import { nextSteps } from './next-steps.js';
import { addListenOptions, addLogOptions, collect, wholeNumber } from '../options/listen-options.js';
import { parseDuration } from '../options/option-values.js';
import { addOperationOptions, Operation, type OperationFlags } from '../options/operation-options.js';
import { addChangesOptions, type ChangesFlags, changesFromFlags } from '../options/changes-options.js';
import { addSpoolOptions, type SpoolFlags, spoolFromFlags } from '../options/spool-options.js';
import { tlsFromFlags, withTls } from '../options/tls-options.js';
import { lazyCollector } from '../garbage-collector.js';
import { createLog, type LogFormat, type LogLevel } from '../log.js';
import { admission, hideOwnDoors } from './own-doors.js';
import { handleSignals } from './server-signals.js';
import { spreadSafetyNet } from './safety-net.js';
import { requireAddressSpace } from '../address-space.js';
import { keepHeapSmall } from '../small-heap.js';
import { makeThreadPool } from '../thread-pool.js';

const DEFAULT_LISTEN = 'ws://127.0.0.1:0';

interface ServeFlags
  extends AuthFlags,
    SpoolFlags,
    ChangesFlags,
    DurableFlags,
    FleetFlags,
    RemoteFlags,
    ServeConsoleFlags,
    OperationFlags {
  readonly listen: string[];
  readonly allowHost: string[];
  readonly sessionTtl: number;
  readonly maxSessions: number;
  readonly maxProcesses: number;
  readonly maxKept: number;
  readonly keepEnded: number;
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
      'Serve this machine: run processes and access files for clients that connect.\n\n' +
        'Prints the URL of each listener on stdout once it is ready. Logs go to stderr.',
    )
    .option(
      '--listen <url>',
      `ws://IP:PORT, wss://IP:PORT, unix:///PATH or stdio; may be repeated (default: ${DEFAULT_LISTEN})`,
      collect,
      [],
    )
    .option(
      '--console [url]',
      `also serve a page for browsers, on http://IP:PORT or https://IP:PORT (default: ${DEFAULT_CONSOLE_URL})`,
    );
  addConsoleTokenOption(command, 'with --console: ')
    .option(
      '--durable <dir>',
      'restart the server if it dies; its programs keep running, with state kept in this directory',
    )
    .addOption(
      new Option('--compression <whose>', 'whose output is compressed where the line is slow')
        .choices(['remote', 'always', 'never'])
        .default('remote'),
    )
    .option('--no-http', 'do not make HTTP requests for clients');
  withTls(addListenOptions(command))
    .optionsGroup('Limits:')
    .option(
      '--session-ttl <seconds>',
      'how long a session outlives its connection',
      wholeNumber,
      DEFAULT_SESSION_TTL_MS / 1000,
    )
    .option('--max-sessions <n>', 'maximum number of sessions', wholeNumber, DEFAULT_MAX_SESSIONS)
    .option(
      '--max-processes <n>',
      'maximum number of processes per session',
      wholeNumber,
      DEFAULT_MAX_PROCESSES,
    )
    .option(
      '--max-kept <n>',
      'maximum number of kept processes, for all clients together',
      wholeNumber,
      DEFAULT_MAX_KEPT_PROCESSES,
    )
    .addOption(
      new Option('--keep-ended <time>', 'how long a kept process can be read after its end')
        .argParser(parseDuration)
        .default(DEFAULT_KEEP_ENDED_MS, '1h'),
    )
    .option(
      '--retain-bytes <n>',
      'output kept per process for late readers',
      wholeNumber,
      DEFAULT_RETAINED_BYTES,
    );
  addChangesOptions(addSpoolOptions(command));
  return addLogOptions(addOperationOptions(addRemoteOptions(addFleetOptions(command)))).action(serve);
}

async function serve(flags: ServeFlags): Promise<void> {
  const durable = durableFromFlags(flags);
  try {
    await begin(flags, durable);
  } catch (error) {
    durable?.failed(error);
    throw error;
  }
}

async function begin(flags: ServeFlags, durable: DurableServer | null): Promise<void> {
  requireAddressSpace();
  keepHeapSmall();
  const threads = makeThreadPool();
  // A machine of a fleet or a registry is reached there; it listens only if told to.
  const fallback = flags.fleet === undefined && flags.remote === undefined ? [DEFAULT_LISTEN] : [];
  const addresses = flags.listen.length > 0 ? flags.listen : fallback;
  const stdio = addresses.some((text) => parseListenAddress(text).kind === 'stdio');
  const auth = authFromFlags(flags);
  if (auth && stdio) {
    throw new ExecError('invalidConfiguration', '--ws-auth cannot be used with --listen stdio.');
  }
  const log = await createLog({ format: flags.logFormat, level: flags.logLevel });
  spreadSafetyNet(log);
  guardTrees(log);
  log.debug({ ...hostCapabilities() }, 'this machine');
  const secrets = [
    flags.wsTokenFile,
    flags.wsSharedSecretFile,
    flags.tlsKey,
    flags.consoleTokenFile,
    flags.remoteTokenFile,
    flags.audit,
  ];
  hideOwnDoors({ files: [...secrets, ...fleetFiles(flags)] });
  const tls = tlsFromFlags(flags);
  const operation = await Operation.begin(flags, { log, logsEvents: !stdio });
  const admits = admission(log);
  const metricsUrl = await operation.listen(admits);
  if (metricsUrl !== undefined) log.info({ url: metricsUrl }, 'serving metrics');
  await threads;
  const starting = serveMachine({
    listen: addresses.filter((text) => parseListenAddress(text).kind !== 'stdio'),
    auth,
    tls,
    allowedHosts: flags.allowHost,
    onAcceptError: logAcceptErrors(log),
    admission: admits,
    sessionTtlMs: flags.sessionTtl * 1000,
    maxSessions: flags.maxSessions,
    maxProcesses: flags.maxProcesses,
    maxKeptProcesses: flags.maxKept,
    keepEndedMs: flags.keepEnded,
    retainedBytes: flags.retainBytes,
    compression: flags.compression,
    http: flags.http,
    spool: spoolFromFlags(flags),
    ...changesFromFlags(flags),
    durable: durable?.takeOver(),
    collectGarbage: lazyCollector(),
    log,
    ...operation.options,
  });
  const leaving: (() => Promise<void>)[] = [];
  const retiring: (() => Promise<void>)[] = [];
  const shutDown = handleSignals(starting, {
    log,
    leaving,
    retiring,
    graceMs: flags.shutdownGrace,
    reload: (serving) => {
      serving.renew({ auth: authFromFlags(flags), tls: tlsFromFlags(flags) });
      operation.reopen();
    },
  });
  const serving = await starting;
  const { urls, server } = serving;
  operation.watch(server);
  if (stdio) serveStdio(server, shutDown);
  const giveUp = async (error: unknown): Promise<never> => {
    await serving.close();
    await Promise.all(leaving.map((leave) => leave()));
    leaveHost();
    throw error;
  };
  const member = await serveFleet(flags, { server, log, lost: shutDown }).catch(giveUp);
  leaving.push(member.close);
  retiring.push(member.endJobs);
  const remote = await serveRemote(flags, { server, log, lost: shutDown }).catch(giveUp);
  leaving.push(remote.close);
  durable?.ready();
  server.settle();
  // Readers get them from the first one.
  const isFirst = !durable || durable.isFirst;
  if (isFirst) for (const url of [...urls, ...member.urls, ...remote.urls]) process.stdout.write(`${url}\n`);
  const page = await consoleOf(server, flags, { auth, log }).catch(giveUp);
  if (page) leaving.push(() => page.close());
  if (!isFirst) return;
  warnOfPlainTokens(addresses, flags, log);
  const [first] = urls;
  if (first && flags.logFormat === 'human' && flags.logLevel !== 'silent')
    process.stderr.write(nextSteps(first, flags));
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

/** Serves one client over stdin and stdout, and shuts down when it disconnects. */
function serveStdio(server: ExecServer, shutDown: (why: string) => void): void {
  const channel = new LineChannel({ label: 'stdio', input: process.stdin, output: process.stdout });
  // Stray console output must not end up between messages.
  console.log = console.error;
  void server
    .accept(channel, { resumable: false })
    .then(() => shutDown(channel.violation ?? 'the client is gone'));
}

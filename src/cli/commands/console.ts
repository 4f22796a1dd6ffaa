import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { type ConsoleFleet, type ConsoleMachine, ConsoleServer } from '../../console/index.js';
import { loadEnvironments } from '../../environment/index.js';
import { leaveHost, packageFile } from '../../host/index.js';
import { version } from '../../host/machine-info.js';
import { ExecServer, type ServerLog } from '../../server/index.js';
import {
  addConsoleTokenOption,
  consoleToken,
  type ConsoleTokenFlags,
  DEFAULT_CONSOLE_URL,
  parseConsoleUrl,
} from '../options/console-options.js';
import { addChangesOptions, type ChangesFlags, changesFromFlags } from '../options/changes-options.js';
import { addLogOptions, collect } from '../options/listen-options.js';
import { addSpoolOptions, type SpoolFlags, spoolFromFlags } from '../options/spool-options.js';
import { type TlsFlags, tlsFromFlags, withTls } from '../options/tls-options.js';
import { createLog, type LogFormat, type LogLevel } from '../log.js';
import { configuredFleet } from './console-fleet.js';
import { configuredMachines, servedMachine } from './console-machines.js';
import { guardTrees } from './guard-trees.js';
import { admission, hideOwnDoors } from './own-doors.js';
import { spreadSafetyNet } from './safety-net.js';

interface ConsoleFlags extends ConsoleTokenFlags, TlsFlags, SpoolFlags, ChangesFlags {
  readonly listen: string;
  readonly allowHost: string[];
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
}

/** `execwire console`: a page in the browser for this machine and all configured ones. */
export function consoleCommand(): Command {
  const command = new Command('console')
    .summary('see and control machines in a browser')
    .description(
      'Serve a page that shows this machine, the configured ones and the fleet: their processes, terminals, recordings, files, ' +
        'ports and held changes.\n\n' +
        'Prints a link on stdout that signs one browser in. When it has been used, another one is printed.',
    )
    .option('--listen <url>', 'http://IP:PORT or https://IP:PORT', DEFAULT_CONSOLE_URL)
    .option('--allow-host <name>', 'another host name for this machine; may be repeated', collect, []);
  addConsoleTokenOption(withTls(command));
  return addLogOptions(addChangesOptions(addSpoolOptions(command))).action(runConsole);
}

async function runConsole(flags: ConsoleFlags): Promise<void> {
  const log = await createLog({ format: flags.logFormat, level: flags.logLevel });
  spreadSafetyNet(log);
  guardTrees(log);
  hideOwnDoors({ files: [flags.consoleTokenFile, flags.tlsKey] });
  const config = loadEnvironments();
  const server = new ExecServer({
    spool: spoolFromFlags(flags),
    ...changesFromFlags(flags),
    log,
  });
  const local = config.includeLocal ? [servedMachine(server, { principal: 'anyone' })] : [];
  const machines = [...local, ...configuredMachines(config)];
  const fleet = configuredFleet();
  const console = await openConsole({ url: flags.listen, machines, fleet, flags, log });
  const shutDown = async (): Promise<void> => {
    await console.close();
    await fleet?.close();
    await server.close();
    leaveHost();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void shutDown());
}

/** Opens a console and prints how to get in. */
export async function openConsole(options: {
  url: string;
  machines: readonly ConsoleMachine[];
  fleet?: ConsoleFleet | undefined;
  flags: ConsoleTokenFlags & TlsFlags & { readonly allowHost: readonly string[] };
  log: ServerLog;
}): Promise<ConsoleServer> {
  const { url, machines, fleet, flags, log } = options;
  const tokenSha256 = consoleToken(flags);
  const print = (link: string): void => void process.stdout.write(`${link}\n`);
  const console = await ConsoleServer.open({
    address: parseConsoleUrl(url),
    pageDirectory: fileURLToPath(packageFile('dist/page')),
    machines,
    fleet,
    version,
    allowedHosts: flags.allowHost,
    tls: tlsFromFlags(flags),
    tokenSha256,
    admission: admission(log),
    ...(tokenSha256 ? {} : { onNewLink: print }),
  });
  // With a token, nothing printed grants access.
  print(tokenSha256 ? console.url : console.newLink());
  return console;
}

import { randomUUID } from 'node:crypto';
import { Child } from './child.js';
import { cleanEnv } from './clean-env.js';
import { startDiallingServer } from './dialling-server.js';
import { fleetArgv, startBehindGateway } from './gateway.js';
import { bin, codexProgram } from '../../testkit/launch.mjs';
import { executors } from './registry.js';
import type { RunDirectory } from './run-directory.js';

/** A server that can be put under test: its name and the command line that makes it listen. */
export interface ServerKind {
  readonly name: string;
  readonly argv: (listen: string) => readonly string[];
  /** What is between it and Codex. Absent: nothing. */
  readonly way?: 'gateway' | 'registry' | 'dials';
}

/** Execwire itself, as built. */
export const execwireServer: ServerKind = {
  name: 'execwire',
  argv: (listen) => [process.execPath, bin, 'serve', '--listen', listen],
};

/** The server Codex brings along: whatever a case asks of us must hold for it too, or the case asks for the wrong thing. */
export const codexServer: ServerKind = {
  name: 'codex',
  argv: (listen) => [...codexProgram, 'exec-server', '--listen', listen],
};

/** The same machines, reached by a Codex that knows nothing about fleets, or through a registry of ours. */
const ways: readonly ServerKind[] = [
  { name: 'execwire behind a gateway', argv: fleetArgv, way: 'gateway' },
  { ...execwireServer, name: 'execwire behind a registry', way: 'registry' },
  { ...codexServer, name: 'codex behind a registry', way: 'registry' },
];

/** The other end of a registry: the servers dial one themselves. Only by name, because the cases of `registry/` try that, too. */
const dialling: readonly ServerKind[] = [
  { name: 'dialling execwire', argv: executors.execwire, way: 'dials' },
  { name: 'dialling codex', argv: executors.codex, way: 'dials' },
];

const wanted = process.env['EXECWIRE_INTEROP_SERVER'] ?? '';

/** The servers to test; `EXECWIRE_INTEROP_SERVER` narrows them to those of one program, or to `dialling` ones. */
export const servers: readonly ServerKind[] = [
  ...[execwireServer, codexServer, ...ways],
  ...(wanted === '' ? [] : dialling),
].filter(({ name }) => name.startsWith(wanted));

/** Set in the server's environment only: a command that can print its value ran inside that server and nowhere else. */
export const markerName = 'EXECWIRE_INTEROP_MARKER';

/** A running server on a free loopback port. */
export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  readonly marker: string;
  /** Kills the server without warning. Disposing of it ends it politely. */
  crash(): Promise<void>;
}

/** Starts a server and waits for the line with its address, which is that of a gateway if it is behind one. */
export async function startServer(kind: ServerKind, run: RunDirectory): Promise<RunningServer> {
  const marker = randomUUID();
  const start = (listen: string): Child =>
    new Child({
      argv: kind.argv(listen),
      cwd: run.outside,
      env: { ...cleanEnv(run.serverHome), [markerName]: marker },
    });
  const variables = { [markerName]: marker };
  if (kind.way === 'dials') return { marker, ...(await startDiallingServer(kind.argv, { run, variables })) };
  if (kind.way === 'gateway') return { marker, ...(await startBehindGateway(start, run)) };
  const child = start('ws://127.0.0.1:0');
  try {
    const url = await child.firstLine();
    return { url, marker, crash: () => child.kill(), [Symbol.asyncDispose]: () => child.stop() };
  } catch (error) {
    await child.kill();
    throw new Error(`the ${kind.name} server did not start`, { cause: error });
  }
}

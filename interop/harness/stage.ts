import { codexProgram } from '../../testkit/launch.mjs';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { type CodexOptions, type CodexResult, type CodexTarget, runCodex } from './codex.js';
import { type RunningServer, type ServerKind, startServer } from './exec-server.js';
import type { ModelScript } from './model-script.js';
import { callUrl, environmentId, noiseVariables, startExecutor, startRegistry } from './registry.js';
import { type RunDirectory, openRunDirectory } from './run-directory.js';
import type { WireLog } from './wire-log.js';
import { WireTap } from './wire-tap.js';

/** How Codex is set up for a script. */
export type PlayOptions = Omit<CodexOptions, 'run' | 'target' | 'script'>;

/** Everything one case needs: folders, a running server, and a proxy between it and Codex. */
export interface Stage extends AsyncDisposable {
  readonly run: RunDirectory;
  readonly server: RunningServer;
  readonly proxy: FaultProxy;
  readonly tap: WireTap;
  readonly wire: WireLog;
  /** Runs Codex over a script against the server, through the proxy. */
  play(script: () => ModelScript, options?: PlayOptions): Promise<CodexResult>;
}

/** Sets up a fresh stage around a server of the given kind. `prepare` comes before the server starts. */
export async function openStage(
  kind: ServerKind,
  prepare: (run: RunDirectory) => Promise<void> = async () => undefined,
): Promise<Stage> {
  const opened: AsyncDisposable[] = [];
  const closeAll = async (): Promise<void> => {
    for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]();
  };
  const keep = <T extends AsyncDisposable>(one: T): T => {
    opened.push(one);
    return one;
  };
  try {
    const run = keep(await openRunDirectory());
    await prepare(run);
    const server = keep(await startServer(kind, run));
    const tap = new WireTap();
    const proxy = keep(await FaultProxy.to(server.url, { tap: tap.open }));
    const target = await targetOf(kind, { run, server, proxy, keep });
    return {
      run,
      server,
      proxy,
      tap,
      wire: tap.log,
      play: (script, options) => runCodex({ run, target, script: script(), ...options }),
      [Symbol.asyncDispose]: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/**
 * How Codex finds the server. Through a registry, nobody could read along; so a forwarder of Codex is the machine there, and what is
 * between it and the server can be read and broken.
 */
async function targetOf(
  { way }: ServerKind,
  {
    run,
    server,
    proxy,
    keep,
  }: {
    run: RunDirectory;
    server: RunningServer;
    proxy: FaultProxy;
    keep: <T extends AsyncDisposable>(one: T) => T;
  },
): Promise<CodexTarget> {
  if (way !== 'registry') return { url: `${proxy.url}${new URL(server.url).pathname}` };
  const registry = keep(await startRegistry(run));
  const url = callUrl(registry.url);
  const remote = ['--remote', url, '--environment-id', environmentId];
  const forwarder = [...codexProgram, 'exec-server', 'forward', '--connect', proxy.url, ...remote];
  keep(startExecutor(forwarder, { run }));
  await registry.says('a machine is connected');
  return { variables: noiseVariables(url) };
}

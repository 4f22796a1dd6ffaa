import { randomUUID } from 'node:crypto';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { type CodexResult, runCodex } from './codex.js';
import { markerName } from './exec-server.js';
import type { ModelScript } from './model-script.js';
import {
  callUrl,
  executors,
  noiseVariables,
  type RegistryProcess,
  startExecutor,
  startRegistry,
} from './registry.js';
import { openRunDirectory, type RunDirectory } from './run-directory.js';

/** A registry of ours between a machine that only dials out and Codex, with a proxy on either side. */
export interface RegistryStage extends AsyncDisposable {
  readonly run: RunDirectory;
  readonly marker: string;
  readonly registry: RegistryProcess;
  readonly machineSide: FaultProxy;
  readonly clientSide: FaultProxy;
  play(script: () => ModelScript): Promise<CodexResult>;
}

/** Resolves when the machine can be used. */
export async function openRegistryStage(kind: keyof typeof executors): Promise<RegistryStage> {
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
    const marker = randomUUID();
    const registry = keep(await startRegistry(run));
    const machineSide = keep(await FaultProxy.to(registry.url));
    const clientSide = keep(await FaultProxy.to(registry.url));
    keep(
      startExecutor(executors[kind](callUrl(machineSide.url)), { run, variables: { [markerName]: marker } }),
    );
    await registry.says('a machine is connected');
    return {
      run,
      marker,
      registry,
      machineSide,
      clientSide,
      play: (script) =>
        runCodex({ run, target: { variables: noiseVariables(callUrl(clientSide.url)) }, script: script() }),
      [Symbol.asyncDispose]: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

import type { NetworkDenial, Sandbox } from '../protocol/index.js';
import type { HeldUse, OwnedChanges } from './changes/index.js';
import { holdChanges } from './hold-changes.js';
import type { LocalProcess } from './local-process.js';
import type { LocalProcessSpec } from './local-process-spec.js';
import { ManagedNetwork, networkUse } from './managed-network.js';
import { NetworkDenials } from './network-denials.js';
import { onceClosed } from './once-closed.js';
import { addSandbox, closeUnused } from './ports/index.js';
import type { TakenProcess } from './process-keeping.js';
import { isPathChange, SandboxedLaunch, SpareSandboxes } from './sandbox/index.js';

/**
 * How often a sandbox is set up whose paths change meanwhile. Another sandbox on this machine may block the same names in a
 * shared directory such as /tmp, with directories that come and go with its commands.
 */
const MAX_SETUPS = 10;

export interface ConfinedStartsOptions {
  /** Where changes are held that policies ask for. Absent: such starts are refused. */
  readonly changes: OwnedChanges | undefined;
  /** Called when the rules keep a process from a host: once for each, and for at most 16. */
  readonly onNetworkDenied: ((processId: string, denial: NetworkDenial) => void) | undefined;
  /** Spawns in the sandbox that was prepared. */
  readonly start: (spec: LocalProcessSpec) => LocalProcess;
}

/** Starts the programs of one owner under policies, with what their sandboxes need. */
export class ConfinedStarts {
  readonly #options: ConfinedStartsOptions;
  readonly #spares = new SpareSandboxes();
  /** Existing sandboxes: their names on disk are free a moment after their processes have ended. */
  readonly #sandboxes = new Set<SandboxedLaunch>();
  readonly #network = new ManagedNetwork();

  constructor(options: ConfinedStartsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the program itself is running, with its output held from the first byte on. If its sandbox cannot be
   * set up, nothing is left of it.
   */
  async start(spec: LocalProcessSpec, sandbox: Sandbox): Promise<LocalProcess> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#start(spec, sandbox);
      } catch (error) {
        // A script is a descriptor that the first attempt has used up.
        if (!isPathChange(error) || attempt === MAX_SETUPS || spec.script !== undefined) throw error;
      }
    }
  }

  /** A sandbox that the owner waits for in the end. */
  add(launch: SandboxedLaunch): SandboxedLaunch {
    this.#sandboxes.add(launch);
    void launch.gone.then(() => this.#sandboxes.delete(launch));
    return launch;
  }

  /** Continues with what an earlier server did for the sandbox of a process, once there is the process. */
  adopt(
    spec: LocalProcessSpec,
    { egress, held }: TakenProcess,
  ): { spec: LocalProcessSpec; begun: (process: LocalProcess) => void } {
    const { confined, keeping, processId = '' } = spec;
    const denials = egress && new NetworkDenials(this.#onDenied(processId));
    const begun = (process: LocalProcess): void => {
      if (confined) listSandbox(process, this.add(confined));
      if (confined && held) bindToSet(held, { process, confined });
      if (!egress || !denials) return;
      const { names } = egress.kept;
      this.#network.adopt(egress.use, egress.kept, denials).then(
        (close) => onceClosed(process.log, close),
        // No answer will come, and programs would wait for one as long as copies of its sockets exist.
        () => names.forEach((name) => keeping?.letGo(name)),
      );
    };
    return { spec: { ...spec, denials }, begun };
  }

  closeSpares(): Promise<void> {
    return this.#spares.close();
  }

  /** Call when all processes have ended. Resolves when nothing is left of their sandboxes, either. */
  async close(): Promise<void> {
    this.#network.close();
    await Promise.all([...this.#sandboxes].map(({ gone }) => gone));
  }

  async #start(spec: LocalProcessSpec, sandbox: Sandbox): Promise<LocalProcess> {
    const network = spec.network ?? networkUse(sandbox);
    const { processId = '', env: asIs } = spec;
    const onDenied = this.#onDenied(processId);
    const egress = network ? await this.#network.open(network, { env: asIs, onDenied }) : null;
    let held: HeldUse | null = null;
    try {
      held = await holdChanges(this.#options.changes, sandbox, { spec, managed: egress !== null });
      const env = egress ? { ...asIs, ...egress.variables } : asIs;
      const kept = spec.begin?.({ bridges: egress?.bridges, held: held?.kept });
      if (egress) kept?.keeping?.hold(egress.descriptors);
      const enforced = held && !held.view ? withNothingHeld(sandbox) : sandbox;
      const asked = { ...spec, env, network: egress?.network, held: held?.view, keeping: kept?.keeping };
      const confined = this.add(await SandboxedLaunch.prepare(asked, enforced, this.#spares));
      // The sandbox owns the script by now.
      const { script: _, ...program } = spec;
      const started = { ...program, ...kept, confined, changesId: held?.changesId, denials: egress?.denials };
      const process = await untilReady(this.#options.start(started));
      if (held) bindToSet(held, { process, confined });
      listSandbox(process, confined);
      onceClosed(process.log, closeUnused);
      if (egress) onceClosed(process.log, () => egress.close());
      return process;
    } catch (error) {
      egress?.close();
      held?.close();
      throw error;
    }
  }

  #onDenied(processId: string): (denial: NetworkDenial) => void {
    return (denial) => this.#options.onNetworkDenied?.(processId, denial);
  }
}

/** A program that can change nothing has no changes to hold. */
function withNothingHeld(sandbox: Sandbox): Sandbox {
  const { changes: _, ...rest } = sandbox;
  return rest;
}

/** It leaves the set when it ends, and ends when the set is full. */
function bindToSet(
  held: HeldUse,
  { process, confined }: { process: LocalProcess; confined: SandboxedLaunch },
): void {
  held.runs({
    initPid: () => confined.initPid,
    full: () => process.stopForRoom(),
    // One that outlives us would stay stopped if we ended now.
    pause: () => (process.keeping ? null : confined.pause()),
  });
  onceClosed(process.log, held.ended);
  void confined.gone.then(held.close);
}

function listSandbox(process: LocalProcess, confined: SandboxedLaunch): void {
  const { treeId, log } = process;
  onceClosed(log, addSandbox({ treeId, initPid: () => confined.initPid }));
}

async function untilReady(process: LocalProcess): Promise<LocalProcess> {
  process.holdFromStart();
  try {
    await process.ready();
  } catch (error) {
    process.stopHolding();
    await process[Symbol.asyncDispose]();
    process.discardOutput();
    throw error;
  }
  return process;
}

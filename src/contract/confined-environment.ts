import { ExecError, isExecError } from '../protocol/errors.js';
import type { EnvironmentInfo, Sandbox } from '../protocol/index.js';
import type { ChangeSet, ChangeSetInfo, ChangesUpdate } from './changes.js';
import { confineFiles } from './confined-files.js';
import type { Environment } from './environment.js';
import { EnvironmentHandle } from './environment-handle.js';
import { withFixedTemporary } from './fixed-temporary.js';
import type { FileSystem } from './file-system.js';
import type { Duplex } from 'node:stream';
import type { ConnectOptions, ListeningPort, PortsOptions, PortWatch } from './ports/index.js';
import type { ExecProcess } from './process.js';
import type { ProcessEnd } from './process-event.js';
import type { AttachOptions, ProcessSpec } from './process-spec.js';
import type { ProcessSummary } from './process-summary.js';

/**
 * An environment whose policy applies to everything that does not specify its own. It owns the environment it wraps and
 * closes it when closed.
 */
export class ConfinedEnvironment extends EnvironmentHandle {
  readonly id: string;
  readonly files: FileSystem;
  readonly sandbox: Sandbox;
  readonly #inner: Environment;

  constructor(inner: Environment, sandbox: Sandbox) {
    super();
    this.#inner = inner;
    this.id = inner.id;
    this.sandbox = sandbox;
    this.files = confineFiles(inner.files, sandbox);
  }

  get lost(): boolean {
    return this.#inner.lost ?? false;
  }

  info(): Promise<EnvironmentInfo> {
    return this.#inner.info();
  }

  async start(spec: ProcessSpec): Promise<ExecProcess> {
    const sandbox =
      spec.sandbox ?? (spec.env?.['TMPDIR'] === undefined ? this.sandbox : withFixedTemporary(this.sandbox));
    const child = await this.#inner.start({ ...spec, sandbox });
    if (child.sandboxType !== 'none' || sandbox.permissions.type !== 'managed') return child;
    // A server that does not know policies runs the program regardless; ours refuses beforehand.
    await child.terminate().catch(ignoreLostContact);
    await child.wait();
    throw new ExecError(
      'sandboxUnavailable',
      `Environment "${this.id}" ignored the sandbox policy; the program was ended.`,
      { data: { hint: 'Use a server that enforces policies, or run without --sandbox.' } },
    );
  }

  changes(changesId: string): ChangeSet {
    return this.#inner.changes(changesId);
  }

  changeSets(): Promise<readonly ChangeSetInfo[]> {
    return this.#inner.changeSets();
  }

  watchChanges(listener: (update: ChangesUpdate) => void): () => void {
    return this.#inner.watchChanges(listener);
  }

  list(): Promise<ProcessSummary[]> {
    return this.#inner.list();
  }

  override kept(): Promise<ProcessSummary[]> {
    return this.#inner.kept();
  }

  override attach(processId: string, options?: AttachOptions): Promise<ExecProcess> {
    return this.#inner.attach(processId, options);
  }

  override waitFor(processId: string): Promise<ProcessEnd> {
    return this.#inner.waitFor(processId);
  }

  override ports(options?: PortsOptions): Promise<ListeningPort[]> {
    return this.#inner.ports(options);
  }

  override watchPorts(options?: PortsOptions): Promise<PortWatch> {
    return this.#inner.watchPorts(options);
  }

  /** Only to ports of its own processes: a policy must not open a way to whatever else listens on the machine. */
  override connect(port: number, options?: ConnectOptions): Promise<Duplex> {
    const ownOnly = this.sandbox.permissions.type === 'managed';
    return this.#inner.connect(port, { ...options, ownOnly: ownOnly || options?.ownOnly });
  }

  watchConnection(listener: (connected: boolean) => void): () => void {
    return this.#inner.watchConnection?.(listener) ?? (() => undefined);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

function ignoreLostContact(error: unknown): void {
  if (!isExecError(error)) throw error;
}

import type { Duplex } from 'node:stream';
import {
  type AttachOptions,
  type ConnectOptions,
  type ChangeSet,
  type ChangeSetInfo,
  type ChangesUpdate,
  entriesOf,
  EnvironmentHandle,
  type ExecProcess,
  type FileSystem,
  type HistoryEntry,
  type ListeningPort,
  nothingKept,
  type OutputMatches,
  type OutputSearch,
  type PortsOptions,
  type PortWatch,
  type ProcessEnd,
  type ProcessSpec,
  type ProcessSummary,
  type SignalName,
} from '../contract/index.js';
import { type EnvironmentInfo, KEPT_SESSION } from '../protocol/index.js';
import type { ExecClientOptions } from './connection/client-options.js';
import { ExecClient } from './connection/exec-client.js';
import { listChangeSets, RemoteChangeSet, watchChanges, withChangesId } from './changes/remote-change-set.js';
import { RemoteFileSystem } from './files/remote-file-system.js';
import { RemotePorts } from './ports/remote-ports.js';
import { type PastOutput, type PastPart, pastOutput } from './process/past-output.js';
import { searchRemote } from './process/remote-lines.js';
import { attachProcess } from './process/attach-process.js';
import { LiveProcesses } from './process/live-processes.js';
import { readHistory } from './process/read-history.js';
import type { RemoteProcess } from './process/remote-process.js';
import { startProcess } from './process/start-process.js';
import { storedOutput } from './process/stored-output.js';
import { waitForKept } from './process/wait-for-kept.js';
import { type ServerStatus, serverStatus, type UpgradeRequest, upgradeServer } from './server-upgrade.js';
import { listServerProcesses, type ServerProcess, signalOnServer, terminateOnServer } from './server-view.js';
import { listShares, type ProcessShare, revokeShare, shareProcess } from './shares.js';

/** A machine behind a connection to an exec server. */
export class RemoteEnvironment extends EnvironmentHandle {
  readonly id: string;
  readonly client: ExecClient;
  readonly files: FileSystem;
  readonly #processes = new LiveProcesses();
  readonly #ports: RemotePorts;
  #closing: Promise<void> | undefined;

  constructor({ id, client }: { id: string; client: ExecClient }) {
    super();
    this.id = id;
    this.client = client;
    this.files = new RemoteFileSystem(client);
    this.#ports = new RemotePorts(client);
  }

  /** Connects to a server and returns it as an environment. */
  static async connect(options: ExecClientOptions & { id: string }): Promise<RemoteEnvironment> {
    return new RemoteEnvironment({ id: options.id, client: await ExecClient.connect(options) });
  }

  /**
   * Like `connect`, but passes the environment to `onOpening` as soon as requests can be sent, right after the
   * handshake. Connecting may still fail, and those requests fail with it.
   *
   * @internal
   */
  static async connectEarly(
    options: Omit<ExecClientOptions, 'onOpening'> & {
      id: string;
      onOpening: (environment: RemoteEnvironment) => void;
    },
  ): Promise<RemoteEnvironment> {
    const onOpening = (): void => options.onOpening(environment);
    const { client, connected } = ExecClient.begin({ ...options, onOpening });
    const environment = new RemoteEnvironment({ id: options.id, client });
    await connected;
    return environment;
  }

  /** True if the connection has ended and will not be restored. */
  get lost(): boolean {
    return !this.client.usable;
  }

  watchConnection(listener: (connected: boolean) => void): () => void {
    return this.client.listen({ offline: () => listener(false), online: () => listener(true) });
  }

  async info(): Promise<EnvironmentInfo> {
    if (!this.client.introduced) await this.client.ready();
    return this.client.environmentInfo;
  }

  async start(spec: ProcessSpec): Promise<ExecProcess> {
    return this.#processes.add(await startProcess(this.client, withChangesId(spec)));
  }

  override async attach(processId: string, options: AttachOptions = {}): Promise<ExecProcess> {
    return this.#processes.add(await attachProcess(this.client, processId, options));
  }

  /**
   * Attaches from the end, and reads separately what the server still has from before. If the process has exited, that
   * is before its exit, unless `past` is to be everything that has been printed by now.
   *
   * @internal
   */
  async attachLate(
    processId: string,
    {
      mayPause,
      untilNow = false,
      ...part
    }: Pick<AttachOptions, 'mayPause'> & PastPart & { untilNow?: boolean } = {},
  ): Promise<{ child: RemoteProcess; past: AsyncGenerator<PastOutput, void> }> {
    const pace = mayPause === undefined ? {} : { mayPause };
    const child = await attachProcess(this.client, processId, { ...pace, fromEnd: true });
    this.#processes.add(child);
    return {
      child,
      past: pastOutput(this.client, {
        processId,
        upTo: untilNow ? child.joinedSeq : child.feed.base,
        ...part,
      }),
    };
  }

  /**
   * Searches the output of a process of ours that this environment need not have started or attached to.
   *
   * @internal
   */
  async searchOutput(processId: string, request: OutputSearch): Promise<OutputMatches> {
    return await searchRemote(this.client, processId, request);
  }

  /**
   * What a process that the server no longer knows has left on disk; null if there is nothing.
   *
   * @internal
   */
  async storedOutput(
    processId: string,
    part: PastPart = {},
  ): Promise<AsyncGenerator<PastOutput, void> | null> {
    return await storedOutput(this.client, processId, part);
  }

  /**
   * The history of a process that the server no longer knows, from disk.
   *
   * @internal
   */
  storedHistory(processId: string): AsyncGenerator<HistoryEntry, void> {
    return entriesOf((request) => readHistory(this.client, processId, request));
  }

  override async kept(): Promise<ServerProcess[]> {
    const rows = await this.listServer();
    if (!this.client.serverCapabilities.leases) throw nothingKept();
    return rows.filter(({ sessionId }) => sessionId === KEPT_SESSION);
  }

  override async waitFor(processId: string): Promise<ProcessEnd> {
    return await waitForKept(this.client, processId);
  }

  /**
   * Makes a token whose bearer may view one kept process of ours and do nothing else, for `forMs` (default: a day). The
   * server cannot be asked for it again.
   */
  async share(
    processId: string,
    options: { forMs?: number } = {},
  ): Promise<ProcessShare & { readonly token: string }> {
    return await shareProcess(this.client, processId, options);
  }

  /** Our shares on this server. */
  async shares(): Promise<ProcessShare[]> {
    return await listShares(this.client);
  }

  /** Ends a share immediately, also for current viewers. Returns false if there is none. */
  async revokeShare(shareId: string): Promise<boolean> {
    return await revokeShare(this.client, shareId);
  }

  /** Which server is running. Only for servers whose programs outlive them, as with `execwire serve --durable`. */
  serverStatus(): Promise<ServerStatus> {
    return serverStatus(this.client);
  }

  /**
   * Replaces the server by the installed version, or by one with other options; programs go on. Resolves with the number
   * of the new server right before that takes over. Rejects with `upgradeRefused` if it cannot; then nothing has changed.
   */
  upgrade(request: UpgradeRequest = {}): Promise<{ generation: number }> {
    return upgradeServer(this.client, request);
  }

  changes(changesId: string): ChangeSet {
    return new RemoteChangeSet(this.client, changesId);
  }

  async changeSets(): Promise<readonly ChangeSetInfo[]> {
    return await listChangeSets(this.client);
  }

  watchChanges(listener: (update: ChangesUpdate) => void): () => void {
    return watchChanges(this.client, listener);
  }

  /** All processes of the session if the server lists them, otherwise the live ones started by this environment. */
  async list(): Promise<ProcessSummary[]> {
    if (!this.client.introduced) await this.client.ready();
    if (this.client.serverCapabilities.processList) {
      return (await this.client.call('process/list', null)).processes;
    }
    return this.#processes.rows();
  }

  /**
   * The processes of all sessions on the server. Processes of other clients show only their program, without arguments
   * and details; so do those of other sessions on servers that do not offer `processDetails`.
   */
  async listServer(): Promise<ServerProcess[]> {
    return await listServerProcesses(this.client);
  }

  /** Kills a process of any session on the server and everything it started. Returns false if there was none. */
  async terminateOnServer(process: {
    processId: string;
    sessionId: string;
    graceMs?: number;
  }): Promise<boolean> {
    return await terminateOnServer(this.client, process);
  }

  /** Sends a signal to a process of any session on the server. Finished processes are ignored. */
  async signalOnServer(process: { processId: string; sessionId: string; signal: SignalName }): Promise<void> {
    await signalOnServer(this.client, process);
  }

  override async ports(options: PortsOptions = {}): Promise<ListeningPort[]> {
    return await this.#ports.list(options);
  }

  override async watchPorts(options: PortsOptions = {}): Promise<PortWatch> {
    return await this.#ports.watch(options);
  }

  override async connect(port: number, options: ConnectOptions = {}): Promise<Duplex> {
    return await this.#ports.connect(port, options);
  }

  close(): Promise<void> {
    this.#closing ??= this.#processes.end().then(() => this.client.close());
    return this.#closing;
  }

  /**
   * Closes without waiting for the server to confirm, for programs that are about to exit.
   *
   * @internal
   */
  leave(): Promise<void> {
    this.#closing ??= this.#processes.end().then(() => this.client.leave());
    return this.#closing;
  }
}

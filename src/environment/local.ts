import type { Duplex } from 'node:stream';
import {
  type ConnectOptions,
  type ChangeSet,
  type ChangeSetInfo,
  type ChangesLimits,
  type ChangesUpdate,
  EnvironmentHandle,
  type ExecProcess,
  type FileSystem,
  type NetworkAsker,
  type ListeningPort,
  HOME,
  nothingKept,
  PortChanges,
  type PortsOptions,
  type PortWatch,
  type ProcessSpec,
  type ProcessSummary,
} from '../contract/index.js';
import {
  adoptOrphans,
  ChangeSets,
  claimHost,
  ConfinableFileSystem,
  connectPort,
  holdFiles,
  childEnvironment,
  findTarget,
  hideFromSandboxes,
  listListeners,
  homeToStartIn,
  type LocalProcessSpec,
  machineInfo,
  networkUse,
  OwnedChanges,
  ProcessTable,
  randomBytes,
  reserveSpace,
  type TreeOwner,
  visiblePorts,
  watchListeners,
} from '../host/index.js';
import type { Spool, SpoolOptions } from '../spool/index.js';
import { defaultChangesDirectory, LOCAL_CLIENT, localChangeSet } from './local-changes.js';
import { configurationHome, secretPaths } from './configuration-home.js';
import { pathBytes, pathText } from '../protocol/file-uri.js';
import type { EnvironmentInfo, EnvPolicy, Sandbox } from '../protocol/index.js';

/** What a child inherits by default: all of our variables. */
const INHERIT_ALL: EnvPolicy = {
  inherit: 'all',
  ignoreDefaultExcludes: true,
  exclude: [],
  set: {},
  includeOnly: [],
};
const DEFAULT_SIZE = { rows: 24, cols: 80 };

export interface LocalEnvironmentOptions {
  /** Default `local`. */
  readonly id?: string;
  /** Maximum number of processes. At the limit, closed ones without readers are forgotten early. Default 4,096. */
  readonly maxProcesses?: number | undefined;
  /** Output kept per process for late readers. Default 1 MiB. */
  readonly retainedBytes?: number | undefined;
  /** Unread output beyond which a program waits for its reader. Default 1 MiB. */
  readonly windowBytes?: number | undefined;
  /**
   * Make orphaned descendants children of this process, permanently, and reap them here. Without this, whatever `su`
   * and similar programs leave in the background outlives its program. Only for a process that does nothing else.
   * Default false.
   */
  readonly adoptOrphans?: boolean | undefined;
  /** Where output of processes started with `retain: 'disk'` or `onSlowReader: 'spool'` goes. Default: nowhere. */
  readonly spool?: SpoolOptions | undefined;
  /** Decides about hosts for programs whose rules have `ask`. Default: they are denied. */
  readonly onNetworkRequest?: NetworkAsker | undefined;
  /**
   * Where changes are held that a policy asks for. Default: `execwire/changes` in XDG_STATE_HOME, or in `~/.local/state`.
   */
  readonly changesDirectory?: string | undefined;
  /** How much room held changes may take there. */
  readonly changesLimits?: Partial<ChangesLimits> | undefined;
}

/** This machine, in this process: no wire and no serialisation, but the same contract. */
export class LocalEnvironment extends EnvironmentHandle {
  readonly id: string;
  readonly files: FileSystem;
  readonly #files: ConfinableFileSystem;
  readonly #sets: ChangeSets;
  readonly #changes: OwnedChanges;
  readonly #table: ProcessTable;
  readonly #portWatches = new Set<PortWatch>();
  readonly #sockets = new Set<Duplex>();
  readonly #releaseHost = claimHost();
  readonly #spoolOptions: SpoolOptions | undefined;
  readonly #onNetworkRequest: NetworkAsker | undefined;
  #spool: Spool | null = null;
  #spoolCode: Promise<typeof import('../spool/index.js')> | undefined;

  constructor(options: LocalEnvironmentOptions = {}) {
    super();
    if (options.adoptOrphans) adoptOrphans();
    this.#sets = new ChangeSets({
      directory: options.changesDirectory ?? defaultChangesDirectory(),
      limits: options.changesLimits,
    });
    const session = `local:${randomName()}`;
    this.#changes = new OwnedChanges(this.#sets, () => ({ session, client: LOCAL_CLIENT }));
    this.#files = new ConfinableFileSystem((sandbox) => holdFiles(this.#changes, sandbox));
    this.files = this.#files;
    this.id = options.id ?? 'local';
    for (const path of secretPaths(configurationHome())) hideFromSandboxes(path);
    this.#table = new ProcessTable({ ...options, changes: this.#changes });
    this.#spoolOptions = options.spool;
    this.#onNetworkRequest = options.onNetworkRequest;
    // Its files hold what other programs printed.
    if (options.spool) hideFromSandboxes(options.spool.directory);
  }

  async info(): Promise<EnvironmentInfo> {
    return machineInfo();
  }

  async start(spec: ProcessSpec): Promise<ExecProcess> {
    if (spec.lease !== undefined && spec.lease !== 'session') throw nothingKept();
    const { processId, argv, arg0, tty = false, size = DEFAULT_SIZE, pipeStdin = false } = spec;
    const policy = spec.envPolicy === undefined ? INHERIT_ALL : spec.envPolicy;
    const plain: LocalProcessSpec = {
      ...(processId === undefined ? {} : { processId }),
      argv,
      ...(arg0 === undefined ? {} : { arg0 }),
      cwd: directoryOf(spec),
      env: childEnvironment({ own: process.env, policy, overlay: spec.env ?? {} }),
      stdin: pipeStdin ? 'pipe' : 'null',
      terminal: tty ? size : null,
      timeoutMs: spec.timeoutMs,
      reportsUsage: spec.reportUsage,
      limits: spec.limits,
    };
    const child = { ...plain, ...(await this.#outputUse(plain, spec)) };
    if (spec.sandbox)
      return await this.#table.startConfined(this.#withAsker(child, spec.sandbox), spec.sandbox);
    const started = this.#table.start(child);
    started.holdFromStart();
    return started;
  }

  /** Names the process in questions about hosts. */
  #withAsker(child: LocalProcessSpec, sandbox: Sandbox): LocalProcessSpec {
    const asker = this.#onNetworkRequest;
    if (!asker || !sandbox.networkRules?.ask) return child;
    const processId = child.processId ?? randomName();
    const network = networkUse(sandbox, async ({ host, port, protocol }) =>
      asker({ processId, host, port, protocol }),
    );
    return { ...child, processId, network };
  }

  /** Loads the spool only where it is wanted: most programs need none. */
  async #outputUse(child: LocalProcessSpec, spec: ProcessSpec): Promise<Partial<LocalProcessSpec>> {
    const { retain, onSlowReader, sandbox } = spec;
    const isWanted = retain === 'disk' || onSlowReader === 'spool';
    if (!isWanted && !(this.#spoolOptions && sandbox)) return {};
    this.#spoolCode ??= import('../spool/index.js');
    const { outputUse, Spool: SpoolClass } = await this.#spoolCode;
    if (this.#spoolOptions) this.#spool ??= new SpoolClass(this.#spoolOptions, reserveSpace);
    if (sandbox) this.#spool?.prepareIfPossible();
    return outputUse(this.#spool, { ...child, owner: this.id }, { retain, onSlowReader });
  }

  changes(changesId: string): ChangeSet {
    return localChangeSet(this.#changes, changesId);
  }

  async changeSets(): Promise<readonly ChangeSetInfo[]> {
    return this.#changes.list();
  }

  watchChanges(listener: (update: ChangesUpdate) => void): () => void {
    return this.#changes.watch(listener);
  }

  async list(): Promise<ProcessSummary[]> {
    return this.#table.all().map((each) => each.summary());
  }

  override async ports(options?: PortsOptions): Promise<ListeningPort[]> {
    return visiblePorts(await listListeners(), this.#ownerOf, options);
  }

  override async watchPorts(options?: PortsOptions): Promise<PortWatch> {
    const changes: PortChanges = new PortChanges(() => {
      stop();
      this.#portWatches.delete(changes);
    });
    const stop = watchListeners((found) => changes.set(visiblePorts(found, this.#ownerOf, options)));
    this.#portWatches.add(changes);
    return changes;
  }

  override async connect(port: number, options: ConnectOptions = {}): Promise<Duplex> {
    const target = findTarget(await listListeners(), this.#ownerOf, { port, ...options });
    const socket = await connectPort(target);
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    return socket;
  }

  readonly #ownerOf = (treeId: number): TreeOwner | undefined => {
    const processId = this.#table.ownerOf(treeId);
    return processId === undefined ? undefined : { processId };
  };

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const watch of [...this.#portWatches]) await watch.close();
    await Promise.all([this.#table.close(), this.#files.close()]);
    await this.#changes.close();
    await this.#sets.close();
    this.#spool?.close();
    this.#releaseHost();
  }
}

function directoryOf({ cwd }: ProcessSpec): string {
  if (cwd === HOME) return homeToStartIn();
  return cwd === undefined ? process.cwd() : pathText(pathBytes(cwd));
}

/** Known to nobody else. */
function randomName(): string {
  return randomBytes(16).toString('hex');
}

import type { OutputStream, ResourceUsage, TerminalSize, TerminalState } from '../../contract/index.js';
import type { Child, ChildSink, ChildSpec, ParkedChild } from './child.js';
import { ChildBase } from './child-base.js';
import type { ChildInput } from './child-input.js';
import type { ChildKeeping, KeptChild } from './child-keeping.js';
import { bootTicks } from '../kernel/index.js';
import { DescriptorScope } from './descriptors.js';
import { marksAvailable, withMark, nextTreeId } from './tree-mark.js';
import { decodeWaitStatus } from './exit-status.js';
import type { InputRecord } from './input-file.js';
import { rewire, wireKept } from './kept-wiring.js';
import { locateProgram } from './locate-program.js';
import { withOomScore } from './oom-score.js';
import { posixSpawn } from './posix-spawn.js';
import { ProcessTree } from './process-tree.js';
import type { TreeRoot } from './known-trees.js';
import { listenForExits, watchAdopted, watchExit } from './reaper.js';
import { assertSpawnable, explainSpawnError } from './spawn-failure.js';
import { withSlack } from './timer-slack.js';
import { terminalState } from './terminal-state.js';
import { ensureWatchdog } from './watchdog.js';
import { type Connections, type Wiring, wire } from './wiring.js';

/** Starts a child through `posix_spawn`. Synchronous; on failure it throws `spawnFailed` and leaves nothing open. */
export function spawnPosixChild(spec: ChildSpec, sink: ChildSink): Child {
  using scope = new DescriptorScope();
  const { root, wiring } = launch(spec, scope);
  const { keeping } = spec;
  const recordsFirst = keeping !== undefined;
  return new PosixChild(root, { connect: (events) => wiring.connect(events), recordsFirst }, sink);
}

/** Takes up a child that an earlier server started. Owns its descriptors. Returns the input it had been sent, too. */
export function adoptPosixChild(
  { root, descriptors, hasExited }: KeptChild,
  keeping: ChildKeeping,
  sink: ChildSink,
): { child: Child; record: InputRecord } {
  let record: InputRecord = { writes: [], closed: false };
  const connect: Connect = (events) => {
    const connections = rewire(descriptors, { keeping, events });
    record = connections.record;
    return connections;
  };
  const child = new PosixChild(root, { connect, watch: hasExited ? null : watchAdopted }, sink);
  return { child, record };
}

/** Like `spawnPosixChild`, for a child nobody listens to yet. */
export function spawnParkedPosixChild(spec: ChildSpec): ParkedChild {
  const scope = new DescriptorScope();
  try {
    const { root, wiring } = launch(spec, scope);
    return new ParkedPosixChild(root, wiring, scope);
  } catch (error) {
    scope[Symbol.dispose]();
    throw error;
  }
}

function launch(spec: ChildSpec, scope: DescriptorScope): { root: TreeRoot; wiring: Wiring } {
  assertSpawnable(spec);
  const path = locateProgram(spec);
  listenForExits();
  ensureWatchdog();
  const { keeping } = spec;
  const wiring = keeping ? wireKept(spec, keeping, scope) : wire(spec, scope);
  const treeId = nextTreeId();
  const startTick = bootTicks();
  const pid = startKept({ spec, path, treeId, wiring }, scope);
  const root = { pid, treeId, startTick, marked: marksAvailable() };
  keeping?.started(root);
  return { root, wiring };
}

/** Nobody keeps anything of a child that could not be started. */
function startKept(order: StartOrder, scope: DescriptorScope): number {
  try {
    return start(order, scope);
  } catch (error) {
    order.spec.keeping?.letGo();
    throw error;
  }
}

interface StartOrder {
  readonly spec: ChildSpec;
  readonly path: string;
  readonly treeId: number;
  readonly wiring: Wiring;
}

function start({ spec, path, treeId, wiring }: StartOrder, scope: DescriptorScope): number {
  const { argv, arg0, env, cwd, inheritFds = [] } = spec;
  const seenArgv = arg0 === undefined ? argv : [arg0, ...argv.slice(1)];
  const request = { path, argv: seenArgv, env, cwd, inheritFds, streams: wiring.streams };
  const spawn = (): ReturnType<typeof posixSpawn> => withOomScore(() => posixSpawn(request, scope));
  const started = marksAvailable() ? withSlack(treeId, () => withMark(treeId, spawn)) : spawn();
  if ('errno' in started) throw explainSpawnError(spec, path, started.errno);
  return started.pid;
}

type Connect = Wiring['connect'];

interface ChildOptions {
  readonly connect: Connect;
  /** How its end is noticed; null if that is known already. */
  readonly watch?: typeof watchExit | null;
  /** It may outlive us. */
  readonly recordsFirst?: boolean;
}

class PosixChild extends ChildBase {
  readonly #connections: Connections;

  constructor(root: TreeRoot, options: ChildOptions, sink: ChildSink) {
    super(root, sink);
    const { connect, watch = watchExit, recordsFirst = false } = options;
    watch?.(root.pid, {
      keepAlive: true,
      recordsFirst,
      exited: (status, usage) => this.#reaped(status, usage),
    });
    this.#connections = connect((stream: OutputStream) => ({
      bytes: (bytes) => sink.output(stream, bytes),
      ended: () => this.closeIfOver(),
    }));
    if (!watch) setImmediate(() => this.#settle());
  }

  protected get input(): ChildInput {
    return this.#connections.input;
  }

  protected get outputEnded(): boolean {
    return this.#connections.readers.every(({ ended }) => ended);
  }

  resize(size: TerminalSize): void {
    this.#connections.terminal?.resize(size);
  }

  terminalState(): TerminalState | null {
    const { terminal, input } = this.#connections;
    const state = terminal && terminalState(terminal);
    // Input is on its way; it just has not arrived.
    return state && input.queuedBytes > 0 ? { ...state, waitsForInput: false } : state;
  }

  pause(): void {
    for (const reader of this.#connections.readers) reader.pause();
  }

  resume(): void {
    for (const reader of this.#connections.readers) reader.resume();
  }

  abandonOutput(): void {
    setImmediate(() => {
      for (const reader of this.#connections.readers) reader.abandon();
    });
  }

  /** All output of the child is in the kernel by now and goes out first. */
  #reaped(status: number, usage: ResourceUsage | undefined): void {
    this.leaderReaped();
    for (const reader of this.#connections.readers) reader.leaderExited();
    this.reportExit({ ...decodeWaitStatus(status), ...(usage ? { usage } : {}) });
  }

  /** Reads what it left. */
  #settle(): void {
    this.leaderReaped();
    for (const reader of this.#connections.readers) reader.leaderExited();
    this.exitedBefore();
  }
}

class ParkedPosixChild implements ParkedChild {
  onEnded: (() => void) | undefined;
  readonly #root: TreeRoot;
  readonly #tree: ProcessTree;
  readonly #wiring: Wiring;
  /** Both ends of its streams, until it is attached or gone. */
  readonly #scope: DescriptorScope;
  #isWaiting = true;

  constructor(root: TreeRoot, wiring: Wiring, scope: DescriptorScope) {
    this.#root = root;
    this.#tree = new ProcessTree(root);
    this.#wiring = wiring;
    this.#scope = scope;
    watchExit(root.pid, { keepAlive: false, exited: () => this.#ended() });
  }

  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  attach(sink: ChildSink): Child {
    if (!this.#isWaiting) throw new Error('a child that has ended or is already attached cannot be attached');
    this.#isWaiting = false;
    using _ = this.#scope;
    const wiring = this.#wiring;
    return new PosixChild(this.#root, { connect: (events) => wiring.connect(events) }, sink);
  }

  async discard(): Promise<void> {
    await this.#tree.kill();
  }

  #ended(): void {
    this.#isWaiting = false;
    this.#scope[Symbol.dispose]();
    this.#tree.leaderReaped();
    this.#tree.closed();
    this.onEnded?.();
  }
}

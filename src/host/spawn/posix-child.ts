import type { OutputStream, TerminalSize, TerminalState } from '../../contract/index.js';
import type { Child, ChildSink, ChildSpec, ParkedChild } from './child.js';
import { ChildBase } from './child-base.js';
import type { ChildInput } from './child-input.js';
import { bootTicks } from '../kernel/index.js';
import { DescriptorScope } from './descriptors.js';
import { marksAvailable, withMark, nextTreeId } from './tree-mark.js';
import { decodeWaitStatus } from './exit-status.js';
import { locateProgram } from './locate-program.js';
import { posixSpawn } from './posix-spawn.js';
import { ProcessTree } from './process-tree.js';
import type { TreeRoot } from './known-trees.js';
import { listenForExits, watchExit } from './reaper.js';
import { assertSpawnable, explainSpawnError } from './spawn-failure.js';
import { withSlack } from './timer-slack.js';
import { terminalState } from './terminal-state.js';
import { ensureWatchdog } from './watchdog.js';
import { type Connections, type Wiring, wire } from './wiring.js';

/** Starts a child through `posix_spawn`. Synchronous; on failure it throws `spawnFailed` and leaves nothing open. */
export function spawnPosixChild(spec: ChildSpec, sink: ChildSink): Child {
  using scope = new DescriptorScope();
  const { root, wiring } = launch(spec, scope);
  return new PosixChild(root, wiring, sink);
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
  const wiring = wire(spec, scope);
  const treeId = nextTreeId();
  const startTick = bootTicks();
  const pid = start({ spec, path, treeId, wiring }, scope);
  return { root: { pid, treeId, startTick, marked: marksAvailable() }, wiring };
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
  const spawn = (): ReturnType<typeof posixSpawn> => posixSpawn(request, scope);
  const started = marksAvailable() ? withSlack(treeId, () => withMark(treeId, spawn)) : spawn();
  if ('errno' in started) throw explainSpawnError(spec, path, started.errno);
  return started.pid;
}

class PosixChild extends ChildBase {
  readonly #connections: Connections;

  constructor(root: TreeRoot, wiring: Wiring, sink: ChildSink) {
    super(root, sink);
    watchExit(root.pid, { keepAlive: true, exited: (status) => this.#reaped(status) });
    this.#connections = wiring.connect((stream: OutputStream) => ({
      bytes: (bytes) => sink.output(stream, bytes),
      ended: () => this.closeIfOver(),
    }));
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
  #reaped(status: number): void {
    this.leaderReaped();
    for (const reader of this.#connections.readers) reader.leaderExited();
    this.reportExit(decodeWaitStatus(status));
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
    return new PosixChild(this.#root, this.#wiring, sink);
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

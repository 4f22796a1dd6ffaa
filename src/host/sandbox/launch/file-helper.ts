import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ErrorCode, type ErrorData, ExecError, errorCatalogue } from '../../../protocol/errors.js';
import { packageFile } from '../../kernel/package-file.js';
import { spawnGuarded } from '../../spawn/index.js';
import { type Confinement, confine } from '../bwrap/confine.js';
import { encodeFrame, FrameReader, type HelperMessage } from './helper-frame.js';
import { accessAt, type ConfinedPolicy, indexRules, type PathRule } from '../../../policy/internal.js';
import type { HeldView } from '../plan/file-view.js';
import type { SandboxSupport } from '../probe/probe.js';

/**
 * Node starts its threads and loads our code in a tenth of a second. If there is no room for the threads, it may hang
 * during startup for ever, alive but silent.
 */
const START_LIMIT_MS = 15_000;

/** The object that does the work inside: an export of a module, given by URL. */
export interface HelperTarget {
  readonly module: string;
  readonly exportName: string;
}

/** What a helper sees of the disk. */
export interface ConfinedView {
  /** Default: this machine's files. */
  readonly held?: HeldView | undefined;
  /** What the patterns of its policy match. */
  readonly hidden?: readonly string[] | undefined;
}

/** How to start helpers. */
export interface HelperOptions {
  readonly target: HelperTarget;
  readonly support: SandboxSupport;
  /** The script that runs inside. Default: ours. */
  readonly script?: string;
  /** Directories its modules are loaded from. Default: those of the script and the target. */
  readonly modulePaths?: readonly string[];
  /** Another user to run as, if the server is root. */
  readonly ids?: { readonly uid: number; readonly gid: number };
  /** How long it may take to become ready. */
  readonly startLimitMs?: number;
}

/**
 * A confined Node process that does file operations for us. It dies with us, when its stdin closes, or when told to.
 */
export class FileHelper {
  readonly #child: ChildProcess;
  readonly #confinement: Confinement;
  readonly #pending = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  readonly #reader = new FrameReader();
  #nextId = 1;
  #closed = false;
  #ready = false;
  readonly #startLimit: NodeJS.Timeout;
  /** Settles when the helper and its whole sandbox are gone. */
  readonly ended: Promise<void>;

  constructor(policy: ConfinedPolicy, options: HelperOptions, { held, hidden }: ConfinedView = {}) {
    const script = options.script ?? fileURLToPath(packageFile('dist/programs/file-helper.js'));
    const { target, support, ids } = options;
    const argv = [process.execPath, script, target.module, target.exportName];
    const modules = options.modulePaths ?? [dirname(script), dirname(fileURLToPath(target.module))];
    const visible = withRuntime(policy, [dirname(process.execPath), ...modules]);
    this.#confinement = confine(
      { argv, cwd: '/', env: {}, terminal: false },
      { policy: visible, support, held, hidden },
    );
    this.#child = start(this.#confinement, ids);
    this.#child.stdin?.on('error', () => {});
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#child.on('error', () => this.#gone());
    this.#child.on('close', () => this.#gone());
    // Output that arrived while we were busy or stalled is read before the check.
    const late = () => setImmediate(() => this.#requireReady());
    this.#startLimit = setTimeout(late, options.startLimitMs ?? START_LIMIT_MS).unref();
    this.ended = Promise.resolve(this.#confinement.status?.ended).then(() => {});
  }

  /** False once it is closed or gone; use another one then. */
  get usable(): boolean {
    return !this.#closed;
  }

  /** True while calls are under way. */
  get busy(): boolean {
    return this.#pending.size > 0;
  }

  /** Calls a method of the target inside. Errors keep their codes. */
  call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(helperGone());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      for (const part of encodeFrame({ id, method, args })) this.#child.stdin?.write(part);
    });
  }

  /** Ends the helper immediately; pending calls fail. Idempotent. */
  close(): void {
    this.#end(helperGone());
  }

  #requireReady(): void {
    if (!this.#ready && !this.#closed) this.#end(neverReady());
  }

  #end(why: ExecError): void {
    this.#fail(why);
    void this.#confinement.status?.kill();
  }

  #read(chunk: Buffer): void {
    try {
      for (const message of this.#reader.push(chunk)) this.#settle(message);
    } catch {
      this.close();
    }
  }

  #settle({ id, result, error }: HelperMessage): void {
    // Any message means that it has started.
    this.#ready = true;
    clearTimeout(this.#startLimit);
    const call = this.#pending.get(Number(id));
    this.#pending.delete(Number(id));
    if (error === undefined) call?.resolve(result);
    else call?.reject(errorFrom(error as HelperMessage));
  }

  #gone(): void {
    this.#confinement.status?.over();
    this.#fail(helperGone());
  }

  #fail(why: ExecError): void {
    clearTimeout(this.#startLimit);
    this.#closed = true;
    for (const { reject } of this.#pending.values()) reject(why);
    this.#pending.clear();
  }
}

function start(confinement: Confinement, ids: HelperOptions['ids']): ChildProcess {
  const { argv, cwd, env, inheritFds } = confinement;
  const stdio: (number | 'pipe' | 'ignore')[] = ['pipe', 'pipe', 'ignore'];
  for (const { childFd, fd } of inheritFds) stdio[childFd] = fd;
  try {
    return spawnGuarded(() => spawn(argv[0] ?? '', argv.slice(1), { cwd, env, stdio, ...ids }));
  } finally {
    confinement.release();
  }
}

/** Where the dynamic loader looks. */
const LOADER_PATHS: readonly string[] = ['/lib', '/lib64', '/usr/lib', '/etc/ld.so.cache'];

/**
 * The helper must be able to read its own program whatever the policy hides, so these few paths become readable to its
 * callers as well. Nothing becomes writable.
 */
function withRuntime(policy: ConfinedPolicy, paths: readonly string[]): ConfinedPolicy {
  const confined = { ...policy, network: 'restricted', maxProcesses: null } as const;
  if (policy.files.kind === 'unrestricted') return confined;
  const known = indexRules(policy.files.rules);
  const hidden = [...paths, ...LOADER_PATHS].filter((path) => accessAt(known, path) === 'none');
  const extra = hidden.map((path): PathRule => ({ path, access: 'read', whenMissing: 'skip' }));
  return { ...confined, files: { ...policy.files, rules: [...policy.files.rules, ...extra] } };
}

/** An error of the target, with the code callers recognize it by. */
function errorFrom({ message, code, data }: HelperMessage): Error {
  const text = String(message);
  if (typeof code === 'string' && Object.hasOwn(errorCatalogue, code))
    return new ExecError(code as ErrorCode, text, { data: (data ?? {}) as ErrorData });
  return Object.assign(new Error(text), code === undefined ? {} : { code });
}

function helperGone(): ExecError {
  return new ExecError('ioFailed', 'The confined file helper ended before it answered.');
}

function neverReady(): ExecError {
  return new ExecError('sandboxUnavailable', 'The confined file helper did not start in time.', {
    data: {
      reason: 'resourceLimit',
      hint: 'Raise the limits on processes and memory of the server, or try again when the machine is less busy.',
    },
  });
}

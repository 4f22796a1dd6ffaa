import { ExecError } from '../../protocol/errors.js';
import type { ChildSpec } from '../spawn/index.js';
import { hostCapabilities } from '../spawn/index.js';
import type { ShellSnapshot } from './shell-snapshot.js';
import { type Spawn, takeSnapshot } from './take-snapshot.js';

/** The same as Codex. The least recently used one makes room. */
const MAX_SNAPSHOTS = 16;

/** The shells Codex supports. Only bash can report all its state and load it without a file. */
const KNOWN_SHELLS: readonly string[] = ['bash', 'zsh', 'sh'];

/** Identifies the snapshot a start may use. */
export interface SnapshotRequest {
  /** Everything it depends on except the shell and the directory, as one string. */
  readonly key: string;
  readonly shell: { readonly name: string; readonly path: string };
}

type Taken = ShellSnapshot | null;

/** The snapshots of one owner, each taken on first use. */
export class ShellSnapshots {
  /**
   * Least recently used first. A profile that left nothing usable is not tried again, since each try would run it
   * twice.
   */
  readonly #taken = new Map<string, Taken | Promise<Taken>>();

  /** The snapshot for a start, or a promise while it is being taken; null if the profile has to run. */
  get(spec: ChildSpec, request: SnapshotRequest, spawn: Spawn): Taken | Promise<Taken> {
    if (!isLoginShell(spec, request)) return null;
    const { name } = request.shell;
    if (!KNOWN_SHELLS.includes(name))
      throw new ExecError('invalidParams', 'params.shellSnapshot.shell.name: not a shell that has snapshots');
    if (name !== 'bash' || !snapshotsAvailable()) return null;
    const key = JSON.stringify([request.key, request.shell.path, spec.cwd]);
    const known = this.#taken.get(key);
    const taken = known === undefined ? this.#take(key, spec, spawn) : known;
    this.#taken.delete(key);
    this.#taken.set(key, taken);
    this.#makeRoom();
    return taken;
  }

  #take(key: string, spec: ChildSpec, spawn: Spawn): Promise<Taken> {
    const taking = takeSnapshot(spec, spawn).catch(() => null);
    void taking.then((taken) => {
      if (this.#taken.get(key) === taking) this.#taken.set(key, taken);
    });
    return taking;
  }

  #makeRoom(): void {
    for (const key of this.#taken.keys()) {
      if (this.#taken.size <= MAX_SNAPSHOTS) return;
      this.#taken.delete(key);
    }
  }
}

/** `SHELL -lc COMMAND`, without the leading dash in `argv[0]` that turns any shell into a login shell. */
function isLoginShell({ argv, arg0 }: ChildSpec, { shell }: SnapshotRequest): boolean {
  const [program, flag, command] = argv;
  return program === shell.path && flag === '-lc' && command !== undefined && !arg0?.startsWith('-');
}

/** True if state can be passed to a shell without anyone else seeing it. */
export function snapshotsAvailable(): boolean {
  return process.platform === 'linux' && hostCapabilities().backend === 'posixSpawn';
}

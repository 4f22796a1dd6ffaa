import { ExecError } from '../../protocol/errors.js';
import type { ChildSpec } from '../spawn/index.js';
import { hostCapabilities } from '../spawn/index.js';
import type { ShellSnapshot } from './shell-snapshot.js';
import { type Spawn, takeSnapshot } from './take-snapshot.js';

/** As Codex. The one that was not used for the longest time makes room. */
const MAX_SNAPSHOTS = 16;

/** Those Codex knows. Of them only bash can be asked for all its state, and given one without a file. */
const KNOWN_SHELLS: readonly string[] = ['bash', 'zsh', 'sh'];

/** Which snapshot a start may use. */
export interface SnapshotRequest {
  /** Everything it depends on but the shell and the directory, in one text. */
  readonly key: string;
  readonly shell: { readonly name: string; readonly path: string };
}

type Taken = ShellSnapshot | null;

/** The snapshots of one owner, each taken at its first use. */
export class ShellSnapshots {
  /** Least recently used first. A profile that left nothing usable is not tried again: each time would cost it twice. */
  readonly #taken = new Map<string, Taken | Promise<Taken>>();

  /** The snapshot for a start, a promise while it is being taken; null where the profile has to run. */
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

/** `SHELL -lc COMMAND`, and not by the name that makes a login shell of every shell. */
function isLoginShell({ argv, arg0 }: ChildSpec, { shell }: SnapshotRequest): boolean {
  const [program, flag, command] = argv;
  return program === shell.path && flag === '-lc' && command !== undefined && !arg0?.startsWith('-');
}

/** Whether state can be handed to a shell without anybody else seeing it. */
export function snapshotsAvailable(): boolean {
  return process.platform === 'linux' && hostCapabilities().backend === 'posixSpawn';
}

import {
  chownSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ConfinedServer } from '../harness/confined-server.js';
import type { Identity } from '../host/sandbox/harness.js';
import { startSwapper } from './swapper.js';

/** What nobody may get to see: content, and the name of a file. */
export const SECRET = 'the secret outside';
export const SECRET_NAME = 'only-outside';

/** What every file inside holds. Of another length, so that a size tells the two apart. */
export const HARMLESS = 'inside';

/**
 * A tree in the workspace with a directory that is swapped for a link to a place outside, and back. The real directory is
 * held open, so that a test can put things into it wherever it is.
 */
export class RaceArena implements AsyncDisposable {
  readonly host: ConfinedServer;
  readonly #identity: Identity;
  readonly #before: string;
  readonly #held: number;
  readonly #swapper: AsyncDisposable;
  #restored = 0;

  private constructor(host: ConfinedServer, identity: Identity, swapper: AsyncDisposable, held: number) {
    this.host = host;
    this.#identity = identity;
    this.#swapper = swapper;
    this.#held = held;
    this.#before = this.#outsideNow();
  }

  static async open(host: ConfinedServer, identity: Identity): Promise<RaceArena> {
    const { workspace, outside } = host.place;
    const own = (path: string): void => {
      if (identity.uid !== undefined) chownSync(path, identity.uid, identity.uid);
    };
    const plant = (top: string, content: string, names: readonly string[]): void => {
      mkdirSync(join(top, 'sub'), { recursive: true });
      for (const name of names) writeFileSync(join(top, name), content);
      for (const path of [top, join(top, 'sub'), ...names.map((name) => join(top, name))]) own(path);
    };
    rmSync(join(workspace, 'tree'), { recursive: true, force: true });
    rmSync(join(workspace, 'link'), { recursive: true, force: true });
    mkdirSync(join(workspace, 'tree'));
    own(join(workspace, 'tree'));
    plant(join(workspace, 'tree/dir'), HARMLESS, ['file', 'sub/file']);
    plant(outside, SECRET, ['file', 'sub/file', SECRET_NAME]);
    symlinkSync(outside, join(workspace, 'link'));
    const held = openSync(join(workspace, 'tree/dir'), constants.O_RDONLY | constants.O_DIRECTORY);
    const swapper = await startSwapper(identity, join(workspace, 'tree/dir'), join(workspace, 'link'));
    return new RaceArena(host, identity, swapper, held);
  }

  /** A path in the workspace for the wire. */
  url(name: string): string {
    return pathToFileURL(join(this.host.place.workspace, name)).href;
  }

  path(name: string): string {
    return join(this.host.place.workspace, name);
  }

  /** A path in the real directory, wherever it is. */
  real(name: string): string {
    return `/proc/self/fd/${this.#held}/${name}`;
  }

  /** Puts a file into the real directory that the server's user owns. */
  restore(name: string): void {
    this.#restored += 1;
    const fresh = this.path(`restored-${this.#restored}`);
    writeFileSync(fresh, HARMLESS);
    this.own(fresh);
    renameSync(fresh, this.real(name));
  }

  own(path: string): void {
    if (this.#identity.uid !== undefined) chownSync(path, this.#identity.uid, this.#identity.uid);
  }

  /** Everything readable but the place outside; the workspace writable. */
  sandbox(): object {
    const path = { type: 'path', path: pathToFileURL(this.host.place.outside).href };
    return this.host.sandbox({}, [{ path, access: 'none' }]);
  }

  /** What has changed outside since the beginning; nothing if all is well. */
  damage(): string | null {
    const now = this.#outsideNow();
    return now === this.#before ? null : `outside was\n${this.#before}and is\n${now}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#swapper[Symbol.asyncDispose]();
    closeSync(this.#held);
  }

  #outsideNow(): string {
    const describe = (path: string): string => {
      const { ino, mode, uid, mtimeMs } = lstatSync(path);
      const isDirectory = lstatSync(path).isDirectory();
      const content = isDirectory ? '' : readFileSync(path, 'utf8');
      const own = `${path} ${ino} ${mode} ${uid} ${mtimeMs} ${content}\n`;
      if (!isDirectory) return own;
      return (
        own +
        readdirSync(path)
          .sort()
          .map((name) => describe(join(path, name)))
          .join('')
      );
    };
    return describe(this.host.place.outside);
  }
}

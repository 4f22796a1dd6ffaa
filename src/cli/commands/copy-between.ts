import { RemoteEnvironment } from '../../client/index.js';
import type { Environment } from '../../contract/index.js';
import {
  copyFromStream,
  copyPath,
  copyToStream,
  hasNothing,
  jobFor,
  measureTree,
  modeOf,
  type OpenPlace,
} from '../../copy/index.js';
import type { OpenOptions } from '../../environment/index.js';
import { ExecError } from '../../protocol/errors.js';
import { type CopyLocation, parseLocation, resolvePath } from '../options/copy-location.js';
import { closeTarget, openTarget, type TargetFlags } from '../options/target-options.js';
import { write } from '../terminal/print-output.js';
import { Progress } from '../terminal/progress.js';
import { printable } from '../terminal/table.js';

/** The options of `cp`. */
export type CopyFlags = TargetFlags & { readonly quiet?: boolean; readonly dereference?: boolean };
type PathLocation = Extract<CopyLocation, { kind: 'path' }>;

/** Copies between two locations on any machines. */
export async function copyBetween(request: {
  source: string;
  destination: string;
  flags: CopyFlags;
  signal: AbortSignal;
}): Promise<void> {
  const { flags, signal } = request;
  const from = parseLocation(request.source, flags);
  const to = parseLocation(request.destination, flags);
  await using machines = new Machines(flags);
  if (from.kind === 'path' && to.kind === 'path') {
    using progress = new Progress(flags);
    const source = await machines.place(from);
    const isKnown = progress.isShown && source.machine === undefined;
    // Listing this machine takes next to nothing; another one would list everything twice.
    if (isKnown) void measureTree(source, signal).then((total) => total.files > 0 && progress.expect(total));
    let followed = 0;
    await copyPath(source, await machines.destination(to), {
      signal,
      followLinks: flags.dereference === true,
      onFollowed: () => void (followed += 1),
      onTotal: (bytes) => progress.expect({ files: 1, bytes }),
      onBytes: (bytes) => progress.add(bytes),
      onFile: () => progress.addFile(),
      onSkipped: (path, why) => {
        progress.clear();
        process.stderr.write(`execwire: left out ${printable(path)}: ${why}\n`);
      },
    });
    progress.clear();
    if (followed > 0) complainOfLinks(followed);
  } else if (from.kind === 'path') {
    const { stdout } = process;
    stdout.on('error', () => undefined);
    await copyToStream(await machines.place(from), { signal, write: (bytes) => write(stdout, bytes) });
  } else if (to.kind === 'path') {
    const place = await machines.place(to);
    using progress = new Progress(flags);
    const job = jobFor(place, {
      signal,
      followLinks: true,
      onBytes: (bytes) => progress.add(bytes),
      onFollowed: () => undefined,
    });
    await copyFromStream(process.stdin, { ...place, mode: await modeOf(place) }, job);
  } else {
    throw new ExecError('invalidConfiguration', 'Only one of the two places can be "-".');
  }
}

function complainOfLinks(count: number): void {
  const links = count === 1 ? '1 link was' : `${count} links were`;
  process.stderr.write(
    `execwire: ${links} followed: one of the servers has no way to tell or to make links\n`,
  );
}

/** The machines involved in a copy, each opened once. */
class Machines implements AsyncDisposable {
  readonly #flags: TargetFlags;
  readonly #open = new Map<string | undefined, Environment>();

  constructor(flags: TargetFlags) {
    this.#flags = flags;
  }

  /** Looks whether something is there along with the handshake, which saves a round trip. */
  async destination(location: PathLocation): Promise<OpenPlace> {
    const { path } = location;
    let wasFree: Promise<boolean> | undefined;
    const place = await this.place(location, ({ files }) => {
      // What a relative path starts at is not known yet.
      if (path.startsWith('/')) wasFree = hasNothing({ files, path });
    });
    return { ...place, wasFree };
  }

  async place({ target, path }: PathLocation, onOpening?: OpenOptions['onOpening']): Promise<OpenPlace> {
    const { tokenFile } = this.#flags;
    const environment =
      this.#open.get(target) ??
      (await openTarget(
        {
          ...(target === undefined ? {} : { environment: target }),
          ...(tokenFile === undefined ? {} : { tokenFile }),
        },
        onOpening ? { onOpening } : {},
      ));
    this.#open.set(target, environment);
    return {
      environment,
      files: environment.files,
      path: await resolvePath(environment, path),
      renames: offers(environment, 'fsRename'),
      atOnce: environment.id !== 'local' && offers(environment, 'fsAtomicWrite'),
      places: offers(environment, 'fsPlacement'),
      keeps: offers(environment, 'fsLinksAndTimes'),
      ...(environment.id === 'local' ? {} : { machine: environment.id }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map(closeTarget));
  }
}

type Capability = 'fsRename' | 'fsAtomicWrite' | 'fsPlacement' | 'fsLinksAndTimes';

function offers(environment: Environment, capability: Capability): boolean {
  if (!(environment instanceof RemoteEnvironment)) return true;
  return environment.client.serverCapabilities[capability] === true;
}

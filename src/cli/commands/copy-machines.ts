import { RemoteEnvironment } from '../../client/index.js';
import type { Environment } from '../../contract/index.js';
import { hasNothing, type OpenPlace } from '../../copy/index.js';
import type { OpenOptions } from '../../environment/index.js';
import { type CopyLocation, resolvePath } from '../options/copy-location.js';
import { closeTarget, isAddress, openTarget, type TargetFlags } from '../options/target-options.js';

/** A path on some machine, as typed. */
export type PathLocation = Extract<CopyLocation, { kind: 'path' }>;

/** The machines involved in a copy, each opened once. */
export class Machines implements AsyncDisposable {
  readonly #flags: TargetFlags;
  readonly #open = new Map<string | undefined, Environment>();

  constructor(flags: TargetFlags) {
    this.#flags = flags;
  }

  /** Checks for the path along with the handshake, which saves a round trip. */
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
          ...(tokenFile === undefined || !isAddress(target) ? {} : { tokenFile }),
        },
        onOpening ? { onOpening } : {},
      ));
    this.#open.set(target, environment);
    return {
      environment,
      files: environment.files,
      path: await resolvePath(environment, path),
      renames: offers(environment, 'fsRename'),
      writesAtomically: environment.id !== 'local' && offers(environment, 'fsAtomicWrite'),
      placesFiles: offers(environment, 'fsPlacement'),
      keepsLinksAndTimes: offers(environment, 'fsLinksAndTimes'),
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

import { basename } from 'node:path/posix';
import { RemoteEnvironment } from '../client/index.js';
import type { Environment } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import { Drafts, metadataOf } from './copy-draft.js';
import { type CopyJob, copyFile, copyFromStdin, copyToStdout, type FilePlace, naming } from './copy-file.js';
import { type CopyLocation, parseLocation, resolvePath } from '../cli/options/copy-location.js';
import { type Arrival, childPath, copyTree, listing } from './copy-tree.js';
import { keepModes, type KeptMode } from './keep-modes.js';
import { Progress } from '../cli/terminal/progress.js';
import { isSamePlace } from './same-place.js';
import { printable } from '../cli/terminal/table.js';
import { closeTarget, openTarget, type TargetFlags } from '../cli/options/target-options.js';

type Flags = TargetFlags & { readonly quiet?: boolean };
type PathLocation = Extract<CopyLocation, { kind: 'path' }>;

/** A path on a machine that is open. */
interface OpenPlace extends FilePlace {
  readonly environment: Environment;
}

/** Copies between two places, whatever machines they are on. */
export async function copyBetween(request: {
  source: string;
  destination: string;
  flags: Flags;
  signal: AbortSignal;
}): Promise<void> {
  const { flags, signal } = request;
  const from = parseLocation(request.source, flags);
  const to = parseLocation(request.destination, flags);
  await using machines = new Machines(flags);
  if (from.kind === 'path' && to.kind === 'path') {
    await copyPath(await machines.place(from), await machines.place(to), { flags, signal });
  } else if (from.kind === 'path') {
    await copyToStdout(await machines.place(from), { signal });
  } else if (to.kind === 'path') {
    const place = await machines.place(to);
    using progress = new Progress(flags);
    const job = jobFor(place, { signal, progress });
    await copyFromStdin({ ...place, mode: await modeOf(place) }, job);
  } else {
    throw new ExecError('invalidConfiguration', 'Only one of the two places can be "-".');
  }
}

async function copyPath(
  from: OpenPlace,
  into: OpenPlace,
  { flags, signal }: { flags: Flags; signal: AbortSignal },
): Promise<void> {
  const { isDirectory, isFile, size } = await naming(from, from.files.getMetadata(from.path));
  const to = await destination(from, into);
  using progress = new Progress({ ...flags, total: isDirectory ? undefined : size });
  const job = jobFor(to, { signal, progress });
  if (from.environment === to.environment) return await copyThere(from, to, { job, isDirectory });
  if (!isDirectory && !isFile)
    throw new ExecError('invalidFile', 'The source is neither a file nor a directory.');
  if (await isSamePlace(from, to)) {
    throw new ExecError('invalidFile', 'The destination is the source, or lies within it.');
  }
  const mode = await modeOf(from);
  const files: Arrival[] = [];
  const directories: Arrival[] = [];
  if (isDirectory) {
    await copyTree({ ...from, mode }, to, {
      ...job,
      onFile: (file) => {
        progress.addFile();
        files.push(file);
      },
      onDirectory: (directory) => directories.push(directory),
      onSkipped: (path, why) => process.stderr.write(`execwire: left out ${printable(path)}: ${why}\n`),
    });
    directories.push({ path: to.path, mode });
  } else {
    // A server that does not tell leaves the permissions of the file that was there.
    const kept = mode ?? (await modeOf(to));
    await copyFile({ ...from, size, mode: kept }, to, job);
    files.push({ path: to.path, mode: kept });
  }
  // What is within a directory first: afterwards it may be closed to us.
  await keepModes(to.environment, [...files, ...directories].filter(hasMode));
}

/** Nothing has to travel, and links and permissions stay what they are. */
async function copyThere(
  from: OpenPlace,
  to: OpenPlace,
  { job, isDirectory }: { job: CopyJob; isDirectory: boolean },
): Promise<void> {
  const copy = (path: string): Promise<void> =>
    naming(to, from.files.copy(from.path, path, { recursive: isDirectory }));
  if (isDirectory) await copy(to.path);
  else await job.drafts.write(to, (place) => copy(place.path));
}

function jobFor(to: OpenPlace, { signal, progress }: { signal: AbortSignal; progress: Progress }): CopyJob {
  // Servers that rename are ours, and those take files in blocks, too.
  const ours = !(to.environment instanceof RemoteEnvironment) || offersRename(to.environment);
  const drafts = new Drafts({ renames: ours, signal });
  return {
    drafts,
    signal,
    blocks: ours,
    protect: (path, mode) => keepModes(to.environment, [{ path, mode }]),
    onBytes: (bytes) => progress.add(bytes),
  };
}

function offersRename({ client }: RemoteEnvironment): boolean {
  return client.serverCapabilities.fsRename === true;
}

function hasMode(arrival: Arrival): arrival is KeptMode {
  return arrival.mode !== undefined;
}

/** An existing directory takes the source in under its own name. */
async function destination(from: OpenPlace, to: OpenPlace): Promise<OpenPlace> {
  if (!(await metadataOf(to))?.isDirectory) return to;
  const name = basename(from.path);
  return { ...to, path: childPath(to.path, { name, path: from.path }) };
}

/** Permissions are told by listings only. Undefined where nothing is, or the machine does not tell. */
async function modeOf({ files, path }: OpenPlace): Promise<number | undefined> {
  const directory = path.slice(0, Math.max(path.lastIndexOf('/'), 1));
  const siblings = await listing({ files, path: directory }).catch(() => []);
  return siblings.find((entry) => entry.path === path)?.mode;
}

/** The machines of one copy, each opened once. */
class Machines implements AsyncDisposable {
  readonly #flags: TargetFlags;
  readonly #open = new Map<string | undefined, Environment>();

  constructor(flags: TargetFlags) {
    this.#flags = flags;
  }

  async place({ target, path }: PathLocation): Promise<OpenPlace> {
    const { tokenFile } = this.#flags;
    const environment =
      this.#open.get(target) ??
      (await openTarget({
        ...(target === undefined ? {} : { environment: target }),
        ...(tokenFile === undefined ? {} : { tokenFile }),
      }));
    this.#open.set(target, environment);
    return {
      environment,
      files: environment.files,
      path: await resolvePath(environment, path),
      ...(environment.id === 'local' ? {} : { machine: environment.id }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map(closeTarget));
  }
}

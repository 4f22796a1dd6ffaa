import { basename } from 'node:path/posix';
import type { Environment } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import { copyFile, copyFromStdin, copyToStdout, type FilePlace } from './copy-file.js';
import { type CopyLocation, parseLocation, resolvePath } from './copy-location.js';
import { childPath, copyTree } from './copy-tree.js';
import { makeExecutable } from './make-executable.js';
import { Progress } from './progress.js';
import { isSamePlace } from './same-place.js';
import { closeTarget, openTarget, type TargetFlags } from './target-options.js';

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
}): Promise<void> {
  const { flags } = request;
  const from = parseLocation(request.source, flags);
  const to = parseLocation(request.destination, flags);
  await using machines = new Machines(flags);
  if (from.kind === 'path' && to.kind === 'path') {
    await copyPath(await machines.place(from), await machines.place(to), flags);
  } else if (from.kind === 'path') {
    await copyToStdout(await machines.place(from), () => undefined);
  } else if (to.kind === 'path') {
    using progress = new Progress(flags);
    await copyFromStdin(await machines.place(to), (bytes) => progress.add(bytes));
  } else {
    throw new ExecError('invalidConfiguration', 'Only one of the two places can be "-".');
  }
}

async function copyPath(from: OpenPlace, into: OpenPlace, flags: Flags): Promise<void> {
  const { isDirectory, isFile, size } = await from.files.getMetadata(from.path);
  const to = await destination(from, into);
  if (from.environment === to.environment) {
    // Nothing has to travel, and links and permissions stay what they are.
    await from.files.copy(from.path, to.path, { recursive: true });
    return;
  }
  if (!isDirectory && !isFile)
    throw new ExecError('invalidFile', 'The source is neither a file nor a directory.');
  if (await isSamePlace(from, to)) {
    throw new ExecError('invalidFile', 'The destination is the source, or lies within it.');
  }
  using progress = new Progress({ ...flags, total: isDirectory ? undefined : size });
  const executables: string[] = [];
  const onBytes = (bytes: number): void => progress.add(bytes);
  if (isDirectory) {
    await copyTree(from, to, {
      onBytes,
      onFile: ({ path, executable }) => {
        progress.addFile();
        if (executable) executables.push(path);
      },
      onSkipped: (path, why) => process.stderr.write(`execwire: left out ${path}: ${why}\n`),
    });
  } else {
    await copyFile({ ...from, size }, to, onBytes);
    if (await isExecutable(from)) executables.push(to.path);
  }
  await makeExecutable(to.environment, executables);
}

/** An existing directory takes the source in under its own name. */
async function destination(from: OpenPlace, to: OpenPlace): Promise<OpenPlace> {
  const existing = await to.files.getMetadata(to.path).catch((error: unknown) => {
    if (isExecError(error, 'notFound')) return undefined;
    throw error;
  });
  if (!existing?.isDirectory) return to;
  const name = basename(from.path);
  return { ...to, path: childPath(to.path, { name, path: from.path }) };
}

/** Permissions are told by listings only. */
async function isExecutable({ files, path }: OpenPlace): Promise<boolean> {
  const parent = path.slice(0, Math.max(path.lastIndexOf('/'), 1));
  const siblings = await files.readDirectory(parent, { details: true }).catch(() => []);
  const mode = siblings.find((entry) => entry.path === path)?.mode ?? 0;
  return (mode & 0o111) !== 0;
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
    return { environment, files: environment.files, path: await resolvePath(environment, path) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map(closeTarget));
  }
}

import {
  copyFromStream,
  copyPath,
  copyToStream,
  expandPattern,
  hasNothing,
  isDirectory,
  isPattern,
  jobFor,
  modeOf,
  type OpenPlace,
} from '../../copy/index.js';
import { ExecError } from '../../protocol/errors.js';
import { parseLocation } from '../options/copy-location.js';
import type { TargetFlags } from '../options/target-options.js';
import { write } from '../terminal/print-output.js';
import { Progress } from '../terminal/progress.js';
import { Machines, type PathLocation } from './copy-machines.js';
import { CopyReport } from './copy-report.js';

/** The options of `cp`. */
export type CopyFlags = TargetFlags & {
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly dereference?: boolean;
  /** False with --no-clobber. */
  readonly clobber: boolean;
};

interface CopyRequest {
  readonly flags: CopyFlags;
  readonly signal: AbortSignal;
}

/** Copies from all places but the last to the last, on any machines. */
export async function copyBetween(places: readonly string[], request: CopyRequest): Promise<void> {
  const { flags } = request;
  const sources = places.slice(0, -1).map((text) => parseLocation(text, flags));
  const to = parseLocation(places.at(-1) ?? '', flags);
  const [from] = sources;
  const paths = sources.filter((source) => source.kind === 'path');
  await using machines = new Machines(flags);
  if (paths.length === sources.length && to.kind === 'path')
    return await copyPaths(machines, paths, { ...request, to });
  if (sources.length > 1 || from?.kind === to.kind)
    throw new ExecError('invalidConfiguration', '"-" can only be one of two places.');
  if (from?.kind === 'path') await printFile(machines, from, request);
  else if (to.kind === 'path') await writeInput(machines, to, request);
}

async function copyPaths(
  machines: Machines,
  locations: readonly PathLocation[],
  { flags, signal, to }: CopyRequest & { readonly to: PathLocation },
): Promise<void> {
  const [first] = locations;
  const isSimple = locations.length === 1 && first && !isPattern(first.path);
  const sources: OpenPlace[] = [];
  for (const location of locations) sources.push(...(await expand(await machines.place(location))));
  const destination = await (isSimple ? machines.destination(to) : machines.place(to));
  if (sources.length > 1 && !(await isDirectory(destination)))
    throw new ExecError(
      'invalidFile',
      'With several sources, the destination must be an existing directory.',
    );
  using report = new CopyReport(flags);
  for (const source of sources) {
    await report.measure(source, signal);
    await copyPath(source, destination, {
      signal,
      followLinks: flags.dereference === true,
      keepExisting: !flags.clobber,
      ...report.observer,
    });
  }
  report.finish();
}

/** What a wildcard stands for on another machine. A file that has exactly this name comes first. */
async function expand(place: OpenPlace): Promise<OpenPlace[]> {
  if (place.machine === undefined || !isPattern(place.path) || !(await hasNothing(place))) return [place];
  const paths = await expandPattern(place);
  if (paths.length > 0) return paths.map((path) => ({ ...place, path }));
  throw new ExecError('notFound', `${place.machine}:${place.path}: Nothing matches this pattern.`);
}

async function printFile(machines: Machines, from: PathLocation, { signal }: CopyRequest): Promise<void> {
  const { stdout } = process;
  await copyToStream(await machines.place(from), { signal, write: (bytes) => write(stdout, bytes) });
}

async function writeInput(
  machines: Machines,
  to: PathLocation,
  { flags, signal }: CopyRequest,
): Promise<void> {
  const place = await machines.place(to);
  if (!flags.clobber && !(await hasNothing(place))) return;
  using progress = new Progress(flags);
  const job = jobFor(place, {
    signal,
    followLinks: true,
    onBytes: (bytes) => progress.add(bytes),
    onFollowed: () => undefined,
  });
  await copyFromStream(process.stdin, { ...place, mode: await modeOf(place) }, job);
}

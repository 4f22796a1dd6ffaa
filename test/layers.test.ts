import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  fileInRoot,
  type Import,
  importsOf,
  namesExportedBy,
  neededBy,
  sources,
  textOf,
} from './harness/source-tree.js';

/**
 * The rooms of src/, and what each may import beside itself. ARCHITECTURE.md shows the same table. A room within a room
 * (`host/kernel`) is one of its own; `host` means what is left of that folder.
 */
const mayImport: Record<string, readonly string[]> = {
  protocol: [],
  contract: ['protocol'],
  spool: ['host/kernel', 'contract', 'protocol'],
  lines: ['contract', 'protocol'],
  screen: ['contract', 'protocol'],
  policy: ['protocol'],
  rpc: ['protocol'],
  transport: ['rpc', 'protocol'],
  'host/kernel': ['protocol'],
  'host/spawn': ['host/kernel', 'contract', 'protocol'],
  'host/sandbox': ['host/kernel', 'host/spawn', 'policy', 'contract', 'protocol'],
  'host/network': ['host/kernel', 'protocol'],
  'host/ports': ['host/kernel', 'host/spawn', 'contract', 'protocol'],
  'host/files': ['host/kernel', 'host/sandbox', 'contract', 'protocol'],
  'host/changes': ['host/kernel', 'host/sandbox', 'contract', 'protocol'],
  host: [
    'host/kernel',
    'host/spawn',
    'host/sandbox',
    'host/network',
    'host/files',
    'host/ports',
    'host/changes',
    'lines',
    'contract',
    'protocol',
  ],
  keeper: ['host/kernel', 'host/spawn'],
  client: ['contract', 'protocol', 'rpc', 'transport'],
  server: ['contract', 'protocol', 'spool', 'lines', 'screen', 'rpc', 'transport', 'host'],
  fleet: ['protocol', 'contract', 'rpc', 'transport', 'client', 'fleet/channel'],
  'fleet/channel': ['rpc'],
  registry: ['protocol', 'rpc', 'transport'],
  operation: ['server', 'transport', 'protocol'],
  environment: [
    'contract',
    'policy',
    'protocol',
    'spool',
    'transport',
    'host',
    'client',
    'fleet',
    'registry',
  ],
  tools: ['contract', 'policy', 'protocol', 'spool', 'lines'],
  app: ['contract', 'policy', 'protocol', 'spool', 'rpc'],
  mcp: ['tools', 'transport', 'contract', 'protocol'],
  console: ['client', 'transport', 'rpc', 'protocol'],
  conformance: ['protocol', 'transport'],
  copy: ['contract', 'protocol'],
  recording: ['contract', 'protocol'],
  cli: [
    'protocol',
    'contract',
    'policy',
    'transport',
    'host',
    'host/sandbox',
    'spool',
    'screen',
    'keeper',
    'client',
    'server',
    'operation',
    'environment',
    'fleet',
    'registry',
    'app',
    'mcp',
    'conformance',
    'copy',
    'recording',
    'console',
  ],
};

/**
 * Further doors, beside the `index.ts` of each room: what is loaded by every command and must not bring the rest of its room
 * along, what is loaded only by the command that needs it, and what is not for users of the library.
 */
const sideDoors: readonly string[] = [
  'protocol/base64.ts',
  'protocol/concurrency-limit.ts',
  'protocol/dialects.ts',
  'protocol/errors.ts',
  'protocol/file-failure.ts',
  'protocol/file-uri.ts',
  'protocol/home-directory.ts',
  'protocol/hop-by-hop.ts',
  'protocol/host-questions.ts',
  'protocol/join-bytes.ts',
  'protocol/max-timer.ts',
  'protocol/time-slice.ts',
  'protocol/turn-queue.ts',
  'policy/internal.ts',
  'transport/deadline.ts',
  'transport/dial-target.ts',
  'transport/admission.ts',
  'transport/browser-guard.ts',
  'transport/door.ts',
  'transport/listen-address.ts',
  'transport/listen-failure.ts',
  'transport/liveness.ts',
  'transport/unfinished-messages.ts',
  'transport/websocket-channel.ts',
  'transport/websocket-pongs.ts',
  'transport/lines.ts',
  'transport/refuse-upgrade.ts',
  'transport/relay.ts',
  'transport/start-program.ts',
  'transport/websocket-auth.ts',
  'transport/websocket-dial.ts',
  'host/kernel/package-file.ts',
  'host/kernel/procfs.ts',
  'host/kernel/random.ts',
  'host/spawn/parent.ts',
  'host/discovery/index.ts',
  'host/http/index.ts',
  'host/machine-info.ts',
  'screen/painted-screen.ts',
  'fleet/gateway/index.ts',
  'fleet/setup/index.ts',
  'registry/client/index.ts',
  'registry/service/index.ts',
  'server/durable/check-state.ts',
  'environment/configuration-home.ts',
  'environment/dial-environment.ts',
  'environment/environment-names.ts',
  'environment/text-file.ts',
  'environment/open-environment.ts',
  'environment/providers.ts',
];

/** Files that need each other before they can run, each once. */
function fileCycles(): string[] {
  const needs = new Map(sources().map((file) => [file, neededBy(file)]));
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' → ')];
    if (done.has(file)) return [];
    const found = (needs.get(file) ?? []).flatMap((next) => visit(next, [...path, file]));
    done.add(file);
    return found;
  };
  return [...needs.keys()].flatMap((file) => visit(file, []));
}

/** The innermost room a file is in; null for the package's own index. */
function roomOf(file: string): string | null {
  const folders = dirname(file).split('/');
  for (let depth = folders.length; depth > 0; depth -= 1) {
    const room = folders.slice(0, depth).join('/');
    if (room in mayImport) return room;
  }
  return null;
}

/** The table of the page. It says `its rooms` for those within a room; the command line may import everything. */
function shownTable(): Record<string, readonly string[]> {
  const page = fileInRoot('ARCHITECTURE.md');
  const rows = [...page.matchAll(/^\| `([a-z/]+)` +\|[^|]*\| (.+?) +\|$/gm)];
  const inside = (room: string): string[] =>
    Object.keys(mayImport).filter((each) => each.startsWith(`${room}/`));
  const named = (room: string, cell: string): readonly string[] => {
    if (cell === 'everything') return mayImport[room] ?? [];
    return cell.split(', ').flatMap((other) => (other === 'its rooms' ? inside(room) : other));
  };
  return Object.fromEntries(
    rows.map(([, room = '', cell = '']) => [room, cell === '–' ? [] : [...named(room, cell)].sort()]),
  );
}

/** Imports from one room into another. */
function crossings(): (Import & { readonly room: string; readonly other: string })[] {
  return sources()
    .flatMap(importsOf)
    .flatMap((each) => {
      const [room, other] = [roomOf(each.from), roomOf(each.to)];
      return room === null || other === null || room === other ? [] : [{ ...each, room, other }];
    });
}

/** The subpaths of the package: users import from them, and another test pins what they export. */
function publicIndexes(): string[] {
  const { exports } = JSON.parse(fileInRoot('package.json')) as { exports: Record<string, unknown> };
  return Object.keys(exports).map((subpath) => `${subpath.replace(/^\.\/?/, '')}/index.ts`);
}

/** What an `index.ts` passes on although no file outside its folder mentions it. */
function unusedExports(): string[] {
  const imports = sources().flatMap(importsOf);
  const indexes = sources().filter((file) => file.endsWith('/index.ts') && !publicIndexes().includes(file));
  return indexes.flatMap((index) => {
    const importers = imports.filter(
      ({ from, to }) => to === index && !from.startsWith(`${dirname(index)}/`),
    );
    const words = new Set(importers.flatMap(({ from }) => textOf(from).match(/\w+/g) ?? []));
    return namesExportedBy(index)
      .filter((name) => !words.has(name))
      .map((name) => `${index} exports ${name}`);
  });
}

describe('layers', () => {
  test('every file is in a room', () => {
    expect(sources().filter((file) => roomOf(file) === null)).toEqual(['index.ts']);
  });

  test('ARCHITECTURE.md shows the same table', () => {
    expect(shownTable()).toEqual(
      Object.fromEntries(Object.entries(mayImport).map(([room, others]) => [room, [...others].sort()])),
    );
  });

  test('every room imports only what the table allows', () => {
    const broken = crossings().filter(({ room, other }) => !mayImport[room]?.includes(other));
    expect(broken.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test('the table allows nothing that nobody needs', () => {
    const used = new Set(crossings().map(({ room, other }) => `${room} → ${other}`));
    const allowed = Object.entries(mayImport).flatMap(([room, others]) =>
      others.map((other) => `${room} → ${other}`),
    );
    expect(allowed.filter((row) => !used.has(row))).toEqual([]);
  });

  test('nobody enters a room but through a door', () => {
    const past = crossings().filter(({ to, other }) => to !== `${other}/index.ts` && !sideDoors.includes(to));
    expect(past.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test('every side door is used', () => {
    const used = new Set(crossings().map(({ to }) => to));
    expect(sideDoors.filter((door) => !used.has(door))).toEqual([]);
  });

  test('what an index exports is used outside its folder', () => {
    expect(unusedExports()).toEqual([]);
  });

  test('the table has no cycle', () => {
    const reach = (room: string, seen: readonly string[]): string[] =>
      (mayImport[room] ?? []).flatMap((other) =>
        seen.includes(other) ? [[...seen, other].join(' → ')] : reach(other, [...seen, other]),
      );
    expect(Object.keys(mayImport).flatMap((room) => reach(room, [room]))).toEqual([]);
  });

  test('no two files need each other before they can run', () => {
    expect(fileCycles()).toEqual([]);
  });

  test('no barrel re-exports everything', () => {
    const greedy = sources().filter((file) => /export \* from/.test(textOf(file)));
    expect(greedy).toEqual([]);
  });
});

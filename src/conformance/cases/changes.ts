import { type CaseContext, type ConformanceCase, shell, startParams } from '../case.js';
import { same } from '../verdict.js';
import type { Wire, WireParams } from '../wire.js';

/** What programs change is held, on servers that offer it. */
export const changesCases: readonly ConformanceCase[] = [
  {
    name: 'changes/held',
    says: 'Where changes are held, programs of a set see them, the files stay as they are, and the set lists, reads and shows them.',
    async run(context) {
      const place = await holding(context, 'held');
      if (place === null) return;
      const { wire } = place;
      await run(place, 'echo before > old; echo gone > removed', { plain: true });
      await run(place, 'echo after > old; rm removed; mkdir sub; echo new > sub/made');
      same('the next program', await run(place, 'cat old sub/made'), 'after\nnew\n');
      same('the files', await run(place, 'cat *', { plain: true }), 'before\ngone\n');
      const { changes, counts, cursor } = await wire.call('changes/list', { changesId: 'c' });
      same('the list', rowsOf(place, changes), [
        ['old', 'modified', 'file', 6, 7, false],
        ['removed', 'deleted', 'file', null, 5, false],
        ['sub', 'created', 'directory', null, null, false],
        ['sub/made', 'created', 'file', 4, null, false],
      ]);
      same('counts', counts, { created: 2, modified: 1, deleted: 1 });
      same('the last page', cursor, null);
      for (const [side, text] of [
        ['held', 'after\n'],
        ['base', 'before\n'],
      ] as const) {
        const read = await wire.call('changes/read', { changesId: 'c', path: pathOf(place, 'old'), side });
        same(side, [textOf(read['dataBase64']), read['size'], read['eof']], [text, text.length, true]);
      }
      const { diffs } = await wire.call('changes/diff', { changesId: 'c', paths: [pathOf(place, 'old')] });
      const [diff, ...more] = diffs as WireParams[];
      same('one patch', more, []);
      same('its lines', String(diff?.['text']).includes('-before\n+after\n'), true);
    },
  },
  {
    name: 'changes/pages',
    says: 'A list of held changes comes in pages and as a pattern says, with the counts of all that matches.',
    async run(context) {
      const place = await holding(context, 'pages');
      if (place === null) return;
      const { wire } = place;
      await run(place, 'for i in 1 2 3; do : > $i.a; : > $i.b; done');
      const found: unknown[] = [];
      let cursor: unknown = null;
      for (let pages = 0; pages < 3; pages += 1) {
        const page = await wire.call('changes/list', { changesId: 'c', glob: '*.a', limit: 1, cursor });
        same('counts', page['counts'], { created: 3, modified: 0, deleted: 0 });
        found.push(...rowsOf(place, page['changes']).map(([path]) => path));
        ({ cursor } = page);
      }
      same('pages', found, ['1.a', '2.a', '3.a']);
      same('the last page', cursor, null);
    },
  },
  {
    name: 'changes/apply',
    says: 'Applying makes the files like the held ones, once; a file that somebody else changed is a conflict, and then nothing is applied.',
    async run(context) {
      const place = await holding(context, 'apply');
      if (place === null) return;
      const { wire } = place;
      await run(place, 'echo 1 > one; echo 2 > two', { plain: true });
      await run(place, 'echo held > one; echo held > two; echo held > new');
      await wire.call('changes/list', { changesId: 'c' });
      await run(place, 'echo mine >> two', { plain: true });
      const refused = await wire.call('changes/apply', { changesId: 'c' });
      same('nothing applied', refused['applied'], { created: 0, modified: 0, deleted: 0 });
      same(
        'conflicts',
        rowsOf(place, refused['conflicts']).map(([path]) => path),
        ['two'],
      );
      same('the files', await run(place, 'cat *', { plain: true }), '1\n2\nmine\n');
      const some = await wire.call('changes/apply', { changesId: 'c', paths: [pathOf(place, 'new')] });
      same('some', some['applied'], { created: 1, modified: 0, deleted: 0 });
      const all = await wire.call('changes/apply', { changesId: 'c', onConflict: 'overwrite' });
      same('the rest', all['applied'], { created: 0, modified: 2, deleted: 0 });
      same('the files', await run(place, 'cat *', { plain: true }), 'held\nheld\nheld\n');
      const again = await wire.call('changes/apply', { changesId: 'c' });
      same('again', again['applied'], { created: 0, modified: 0, deleted: 0 });
    },
  },
  {
    name: 'changes/sets',
    says: 'Sets are listed and reported when a program in one ends, and nothing is left of one that was discarded.',
    async run(context) {
      const place = await holding(context, 'sets');
      if (place === null) return;
      const { wire } = place;
      await run(place, 'echo held > made');
      const updated = await wire.until('word of the set', () =>
        wire.notifications.find(
          ({ method, params }) => method === 'changes/updated' && params['running'] === 0,
        ),
      );
      same('word of the set', updated.params, {
        changesId: 'c',
        counts: { created: 1, modified: 0, deleted: 0 },
        running: 0,
      });
      const { sets } = await wire.call('changes/sets', null);
      same(
        'sets',
        (sets as WireParams[]).map(({ changesId, lease, running }) => [changesId, lease, running]),
        [['c', 'session', 0]],
      );
      await wire.call('changes/discard', { changesId: 'c' });
      same('sets', (await wire.call('changes/sets', null))['sets'], []);
      same('the files', await run(place, 'ls', { plain: true }), '');
      same('the list', (await wire.ask('changes/list', { changesId: 'c' })).error === undefined, false);
    },
  },
  {
    name: 'changes/others',
    says: 'A set belongs to its session: another session has none with this id, and cannot end it.',
    reconnects: true,
    async run(context) {
      const [place, elsewhere] = [await holding(context, 'others'), await holding(context, 'others')];
      if (place === null || elsewhere === null) return;
      const { wire: other } = elsewhere;
      await run(place, 'echo held > made');
      same('sets of another', (await other.call('changes/sets', null))['sets'], []);
      for (const method of ['changes/list', 'changes/diff', 'changes/apply', 'changes/discard'])
        same(method, (await other.ask(method, { changesId: 'c' })).error === undefined, false);
      same('seen by another', await run(elsewhere, 'ls'), '');
      same('still there', await run(place, 'cat made'), 'held\n');
    },
  },
];

/** A connection to a server that holds changes, and a directory of its own. */
interface HoldingPlace extends CaseContext {
  readonly wire: Wire;
}

/** Null if the server does not hold changes here. */
async function holding(context: CaseContext, name: string): Promise<HoldingPlace | null> {
  const wire = await context.open();
  const { capabilities } = await wire.call('initialize', { clientName: 'conformance' });
  wire.send('{"method":"initialized","params":{}}');
  if (!Object(capabilities).changes) return null;
  // It may know how, and lack what it takes on this machine.
  const { sandbox } = await wire.call('environment/info', null);
  if (Object(Object(sandbox).changes).available !== true) return null;
  const directory = `${context.directory}/changes-${name}`;
  await wire.call('fs/createDirectory', { path: directory, recursive: true, sandbox: null });
  return { ...context, directory, wire };
}

let lastProgram = 0;

/** Runs a script whose changes are held in the set `c`, or one that simply runs. Resolves to what it printed. */
async function run(
  place: HoldingPlace,
  script: string,
  { plain = false }: { plain?: boolean } = {},
): Promise<string> {
  const { wire } = place;
  const processId = `program${(lastProgram += 1)}`;
  const more = plain ? {} : { sandbox: holdingSandbox(place) };
  const params = startParams(place, processId, shell(script), more);
  const started = await wire.call('process/start', params);
  if (!plain) same('the set of the program', started['changesId'], 'c');
  await wire.story(processId);
  const { chunks, exitCode } = await wire.call('process/read', { processId, afterSeq: 0 });
  same('exit code', exitCode, 0);
  return (chunks as WireParams[]).map(({ chunk }) => textOf(chunk)).join('');
}

/** Everything is readable, the directory of the case is writable, and what is written there is held. */
function holdingSandbox({ directory }: CaseContext): WireParams {
  const entries = [
    { path: { type: 'special', value: { kind: 'root' } }, access: 'read' },
    { path: { type: 'path', path: directory }, access: 'write' },
  ];
  return {
    permissions: {
      type: 'managed',
      file_system: { type: 'restricted', entries },
      network: 'restricted',
    },
    changes: 'hold',
    changesId: 'c',
  };
}

function pathOf({ directory }: CaseContext, name: string): string {
  return `${directory}/${name}`;
}

function rowsOf({ directory }: CaseContext, changes: unknown): unknown[][] {
  return (changes as WireParams[]).map(({ path, kind, type, size, baseSize, conflict }) => [
    String(path).slice(directory.length + 1),
    kind,
    type,
    size,
    baseSize,
    conflict,
  ]);
}

function textOf(chunk: unknown): string {
  return Buffer.from(String(chunk), 'base64').toString();
}

// Needs: bwrap, setpriv, python3
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { sh } from '../../testkit/wire-client.mjs';
import { ConfinedServer } from '../harness/confined-server.js';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';
import { startSwapper } from './swapper.js';
import { limitMs, tally, tries } from './tally.js';

/** More are for a long run. */
const TRIES = tries(125);
const TIMEOUT_MS = limitMs(60_000);

const SECRET = 'the secret outside';

/** Applying waits for the disk. This one has nothing to wait for. */
const PARENT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Changes of every kind, in a directory that somebody swaps for a link to a place outside while they are applied. */
const CHANGE = `
  echo held > file; echo held > new; rm gone; rm -r sub; echo held > sub; mkdir fresh; echo held > fresh/inside
  chmod 600 mode; ln -sfn held link; mkfifo queue; ln file hard`;

/** Lays out what the changes were made of, or what an attacker would like to see them in. */
function plant(directory: string, content: string, { uid }: Identity): void {
  mkdirSync(join(directory, 'sub'), { recursive: true });
  for (const name of ['file', 'gone', 'mode', 'sub/inside']) writeFileSync(join(directory, name), content);
  symlinkSync('file', join(directory, 'link'));
  if (uid === undefined) return;
  for (const name of ['.', 'sub', 'file', 'gone', 'mode', 'sub/inside'])
    chownSync(join(directory, name), uid, uid);
}

function pictureOf(path: string): string {
  const { ino, mode, uid, mtimeMs, ctimeMs } = lstatSync(path);
  const node = lstatSync(path);
  const own = `${path} ${ino} ${mode} ${uid} ${mtimeMs} ${ctimeMs}`;
  if (node.isFile()) return `${own} ${readFileSync(path, 'utf8')}`;
  if (!node.isDirectory()) return own;
  const names = readdirSync(path).toSorted();
  return [own, ...names.map((name) => pictureOf(join(path, name)))].join('\n');
}

/** Which directory the set holds the changes of: one above the directory that is swapped, or that very directory. */
const ways = [
  { name: 'a directory in the root', root: 'tree' },
  { name: 'the root itself', root: 'tree/dir' },
];

describe.each(identities)('held changes applied by a server of $name', (identity) => {
  test.each(ways)(
    'stay inside while $name is swapped for a link',
    { timeout: TIMEOUT_MS },
    async ({ root }) => {
      const place = new Place(identity, PARENT);
      const args = ['--changes-dir', join(place.base, 'sets')];
      await using host = await ConfinedServer.start(identity, { place, args });
      const { workspace, outside } = host.place;
      const [directory, link] = [join(workspace, 'tree/dir'), join(workspace, 'link')];
      mkdirSync(join(workspace, 'tree'));
      if (identity.uid !== undefined) chownSync(join(workspace, 'tree'), identity.uid, identity.uid);
      plant(directory, 'inside', identity);
      plant(outside, SECRET, identity);
      const uri = pathToFileURL(join(workspace, root)).href;
      const sandbox = { ...host.sandbox({ workspaceRoots: [uri] }), changes: 'hold', changesId: 'raced' };
      const params = host.params('change', sh(CHANGE), { cwd: pathToFileURL(directory).href, sandbox });
      await host.client.call('process/start', params);
      await host.client.closedEvents('change');
      const { counts } = await host.client.call('changes/list', { changesId: 'raced' });
      expect(counts).toMatchObject({ created: 5, deleted: 2 });

      symlinkSync(outside, link);
      const before = pictureOf(outside);
      const outcomes = new Map<string, number>();
      let told = 0;
      await using swapper = await startSwapper(identity, directory, link);
      for (let round = 0; round < TRIES; round += 1) {
        swapper.pause();
        for (const path of [directory, link]) rmSync(path, { recursive: true, force: true });
        plant(directory, 'inside', identity);
        symlinkSync(outside, link);
        swapper.resume();
        const path = pathToFileURL(join(directory, 'file')).href;
        const answers = await Promise.all([
          host.client.ask('changes/apply', { changesId: 'raced', onConflict: 'overwrite' }),
          host.client.ask('changes/read', { changesId: 'raced', path, side: 'base' }),
          host.client.ask('changes/diff', { changesId: 'raced' }),
        ]);
        const [applied] = answers;
        const outcome = JSON.stringify(applied?.result ?? applied?.error?.code);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        const secrets = [SECRET, Buffer.from(SECRET).toString('base64')];
        if (secrets.some((secret) => JSON.stringify(answers).includes(secret))) told += 1;
        host.client.arrivals.length = 0;
      }
      swapper.pause();
      const damage = pictureOf(outside) !== before;
      tally(`apply while ${root} is swapped, ${identity.name}`, {
        tries: TRIES,
        successes: told + Number(damage),
      });
      expect(pictureOf(outside)).toBe(before);
      expect(told).toBe(0);
      // Otherwise there was no race: it must have met both.
      expect([...outcomes.keys()].length).toBeGreaterThan(1);
    },
  );
});

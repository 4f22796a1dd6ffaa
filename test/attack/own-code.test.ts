import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfinedServer } from '../harness/confined-server.js';
import { InstalledCopy } from '../harness/installed-copy.js';
import { sh } from '../../testkit/wire-client.mjs';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';
import { shareOf } from './share-of.js';

/** Gives all of a tree to the identity, which might have installed it. */
function give(path: string, { uid }: Identity): void {
  if (uid === undefined) return;
  const below = readdirSync(path, { recursive: true, encoding: 'utf8' });
  for (const name of ['.', ...below]) chownSync(join(path, name), uid, uid);
}

/** Puts its own code wherever the server might load some. It may do so again and again. */
const REWRITE = `
trap="require('node:fs').appendFileSync('$0/ran', process.argv[1] + '\\n');"
printf '%s' "$trap" > trap.cjs
files=$(ls -d node_modules/execwire/bin/* node_modules/execwire/dist/bin/*.cjs* node_modules/execwire/dist/host/*/*.js \
  node_modules/undici/*.js node_modules/execwire/node_modules/undici/*.js 2>/dev/null)
for file in $files; do { printf '%s' "$trap" > "$file"; } 2>/dev/null; done
rm -f $files 2>/dev/null
for file in $files; do { printf '%s' "$trap" > "$file"; } 2>/dev/null; done
for folder in execwire/dist execwire/dist/bin execwire/dist/host execwire/bin execwire/node_modules/undici undici zod; do
  mv node_modules/$folder node_modules/$folder.old 2>/dev/null
done
mv node_modules/execwire old 2>/dev/null
mv node_modules old 2>/dev/null
for place in node_modules/execwire node_modules/execwire/dist node_modules/execwire/dist/bin; do
  for name in undici zod; do
    mkdir -p $place/node_modules/$name && cp trap.cjs $place/node_modules/$name/index.js
  done
done 2>/dev/null
mkdir -p .config/execwire 2>/dev/null && echo 'x = 1' > .config/execwire/environments.toml
mkdir -p .cache/execwire 2>/dev/null && echo x > .cache/execwire/code
exit 0
`;

/** Whether libraries lie beside the package or inside. */
const LAYOUTS = [false, true];

describe.concurrent.each(identities)(
  'a program of $name that may write where the server is installed',
  (identity) => {
    test.each(shareOf(identity, LAYOUTS))(
      'cannot change what it runs and obeys (hoisted: %s), and the rest it can',
      async (hoisted) => {
        const place = new Place(identity);
        const { workspace, outside } = place;
        const path = join(workspace, 'node_modules/execwire');
        for (const name of ['node_modules/execwire', '.config', '.cache'])
          mkdirSync(join(workspace, name), { recursive: true });
        const { bin: program } = new InstalledCopy(path, { hoisted });
        give(workspace, identity);
        await using host = await ConfinedServer.start(identity, {
          place,
          program,
          env: { HOME: workspace, EXECWIRE_HOME: '', XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '' },
        });
        const { exit } = await host.run([...sh(REWRITE), outside]);
        expect(exit).toMatchObject({ exitCode: 0 });
        // Libraries that are loaded at their first use, and the process that does confined file operations.
        const answered = await request(host);
        expect(answered).toMatchObject({ status: 200 });
        const { entries } = (await host.client.call('fs/readDirectory', {
          path: host.cwd,
          sandbox: host.sandbox(),
        })) as { entries: { fileName: string }[] };
        expect(entries.map(({ fileName }) => fileName)).toContain('trap.cjs');
        expect(existsSync(join(outside, 'ran'))).toBe(false);
        expect(existsSync(join(workspace, '.config/execwire/environments.toml'))).toBe(false);
        expect(existsSync(join(workspace, '.cache/execwire/code'))).toBe(false);
        // The trap would have told, had anybody run into it.
        execFileSync(process.execPath, [join(workspace, 'trap.cjs')]);
        expect(existsSync(join(outside, 'ran'))).toBe(true);
        // Beside it, packages come and go.
        const install =
          'mkdir node_modules/other && echo x > node_modules/other/index.js && rm -r node_modules/other';
        expect((await host.run(sh(install))).exit).toMatchObject({ exitCode: 0 });
      },
      120_000,
    );
  },
);

async function request({ client }: ConfinedServer): Promise<unknown> {
  const site = createServer((_, response) => response.end('fine')).listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    site.on('listening', resolve);
  });
  const address = site.address();
  const port = typeof address === 'object' ? address?.port : 0;
  try {
    return await client.call('http/request', {
      requestId: 'r',
      method: 'GET',
      url: `http://127.0.0.1:${port}/`,
    });
  } finally {
    site.closeAllConnections();
    site.close();
  }
}

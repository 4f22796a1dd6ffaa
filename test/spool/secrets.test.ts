import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/environment/index.js';
import { sh } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

const SECRET = 'correct-horse-battery';

/** Everything in a directory and below. */
function contentOf(directory: string): string {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

test('a password typed at a prompt without echo is in no file, nor is an argument', async () => {
  using folder = new TestFolder();
  const directory = folder.file('spool');
  {
    await using env = new LocalEnvironment({ spool: { directory } });
    const process = await env.start({
      argv: [
        ...sh('stty -echo; echo "Password:"; read -r answer; stty echo; echo "length ${#answer}"'),
        SECRET,
      ],
      tty: true,
      retain: 'disk',
    });
    for await (const event of process.events())
      if (event.type === 'output' && Buffer.from(event.bytes).includes('Password:'))
        await process.write(`${SECRET}\n`);
    expect(await process.wait()).toMatchObject({ kind: 'exited', exitCode: 0 });
  }
  const content = contentOf(directory);
  expect(content).toContain('Password:');
  expect(content).toContain(`length ${SECRET.length}`);
  expect(content).not.toContain(SECRET);
});

test('typed text is in the files only where the terminal echoes it', async () => {
  using folder = new TestFolder();
  const directory = folder.file('spool');
  {
    await using env = new LocalEnvironment({ spool: { directory } });
    const process = await env.start({ argv: sh('echo Name:; read -r answer'), tty: true, retain: 'disk' });
    for await (const event of process.events())
      if (event.type === 'output' && Buffer.from(event.bytes).includes('Name:'))
        await process.write(`${SECRET}\n`);
  }
  expect(contentOf(directory)).toContain(SECRET);
});

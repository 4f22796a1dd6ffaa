// Needs: chromium, bwrap
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { namedSandbox } from '../../src/policy/index.js';
import { BrowserConsole, type Person, shows } from '../harness/browser.js';

/** With this variable set, the pictures in the documents are made again. Without it, they are only tried. */
const isForDocuments = process.env['EXECWIRE_SCREENSHOTS'] !== undefined;
const images = isForDocuments
  ? fileURLToPath(new URL('../../docs/images', import.meta.url))
  : mkdtempSync(join(tmpdir(), 'execwire-images-'));
/** Pictures show its name. Otherwise another run of these tests may be under way. */
const project = isForDocuments ? join(tmpdir(), 'shop') : mkdtempSync(join(tmpdir(), 'execwire-shop-'));

let opened: BrowserConsole;
let agent: RemoteEnvironment;
let person: Person;

const TESTS = [
  'printf "\\033[1m> shop@2.4.1 test\\033[0m\\n> vitest run\\n\\n"',
  'for each in cart checkout prices stock; do printf " \\033[32m✓\\033[0m test/$each.test.ts \\033[2m(12 tests)\\033[0m\\n"; done',
  'printf " \\033[31m✗\\033[0m test/invoice.test.ts \\033[2m(7 tests | 1 failed)\\033[0m\\n"',
  'printf "   \\033[31mError: expected 19.99 to be 20.00\\033[0m\\n      at invoice.test.ts:41:28\\n\\n"',
  'printf "\\033[1m Tests \\033[0m \\033[31m1 failed\\033[0m | \\033[32m54 passed\\033[0m\\n"',
].join('; ');

beforeAll(async () => {
  mkdirSync(images, { recursive: true });
  mkdirSync(join(project, 'bin'), { recursive: true });
  // What agents run most, without running it.
  const script = `case "$1" in test) ${TESTS}; exit 1;; run) exec sleep 1000;; esac`;
  writeFileSync(join(project, 'bin', 'npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  writeFileSync(join(project, 'README.md'), '# Shop\n');
  writeFileSync(
    join(project, 'invoice.ts'),
    `import { round } from './money';\n\n/** The total of an invoice, with tax. */\nexport function total(items: Item[], tax = 0.19): number {\n  const net = items.reduce((sum, { price, count }) => sum + price * count, 0);\n  // Cents are rounded once, at the end.\n  return round(net * (1 + tax), 2);\n}\n`,
  );
  for (const name of ['cart.ts', 'checkout.ts', 'money.ts', 'package.json', 'stock.ts'])
    writeFileSync(join(project, name), '{}\n');
  opened = await BrowserConsole.open();
  agent = await RemoteEnvironment.connect({
    id: 'agent',
    dial: () => dialWebSocket(opened.url),
    resume: true,
    clientName: 'codex',
  });
  person = await opened.person();
});

afterAll(async () => {
  await agent.close();
  await opened[Symbol.asyncDispose]();
  rmSync(project, { recursive: true, force: true });
  if (!isForDocuments) rmSync(images, { recursive: true });
});

/** Those that the documents show. Each makes the package larger. */
const SHOWN = ['processes', 'terminal', 'changes'];

async function picture(name: string): Promise<void> {
  const { page } = person;
  const image = await page.screenshot({ animations: 'disabled' });
  expect(image.length).toBeGreaterThan(5_000);
  if (SHOWN.includes(name)) writeFileSync(join(images, `console-${name}.webp`), await webp(image));
}

/** Runs in a browser, whose types nothing else here needs. As small as can still be read. */
const TO_WEBP = `async (source) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width * 0.75, image.height * 0.75);
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.3 });
  return [blob.type, [...new Uint8Array(await blob.arrayBuffer())]];
}`;

/** A third as large. The browser is the one program here that can do it; the policy of our own page forbids it. */
async function webp(png: Buffer): Promise<Buffer> {
  const page = await person.context.newPage();
  try {
    const source = `data:image/png;base64,${png.toString('base64')}`;
    const [type, bytes] = await page.evaluate<[string, number[]]>(`(${TO_WEBP})(${JSON.stringify(source)})`);
    expect(type).toBe('image/webp');
    return Buffer.from(bytes);
  } finally {
    await page.close();
  }
}

test('the main views', async () => {
  const { page } = person;
  const kept = { lease: 'kept', retain: 'disk', cwd: project } as const;
  const size = { rows: 30, cols: 110 };
  const PATH = `${project}/bin:${process.env['PATH'] ?? ''}`;
  const npm = async (args: readonly string[], processId: string) =>
    await agent.start({ argv: ['npm', ...args], processId, ...kept, env: { PATH } });
  await (await npm(['test'], 'tests')).wait();
  await (await npm(['ci'], 'install')).wait();
  await npm(['run', 'dev'], 'dev');
  const env = { PATH, PS1: '~/shop $ ', TERM: 'xterm-256color' };
  const shell = await agent.start({ argv: ['sh'], processId: 'shell', tty: true, env, size, ...kept });
  await shell.write('clear; npm test\n');
  await agent.start({ argv: ['npm', 'run', 'build'], processId: 'build', cwd: project, env: { PATH } });
  await page.goto(`${opened.origin}/#/local/processes`);
  await page.getByText('waits for input').waitFor();
  await picture('processes');
  await page.goto(`${opened.origin}/#/local/processes/kept/shell/live`);
  await shows(page, '54 passed');
  await page.getByRole('button', { name: 'Take the keyboard' }).click();
  await page.getByText('you type').waitFor();
  await picture('terminal');
  await page.goto(`${opened.origin}/#/local/processes/kept/tests/output`);
  await page.locator('.line', { hasText: '54 passed' }).waitFor();
  await picture('output');
  await page.goto(`${opened.origin}/#/local/processes/kept/shell/replay`);
  await shows(page, '54 passed');
  await picture('replay');
  await page.goto(`${opened.origin}/#/local/files/${encodeURIComponent(project)}`);
  await page.getByRole('button', { name: 'invoice.ts', exact: true }).click();
  await page.locator('.tok-keyword').first().waitFor();
  await picture('files');
  const sandbox = namedSandbox({ policy: 'workspace-write' }, { workspace: project });
  if (!sandbox) throw new Error('there is no sandbox');
  const held = { ...sandbox, changes: 'hold', changesId: 'fix-rounding', changesLease: 'kept' } as const;
  const fix =
    "sed -i 's/round(net/roundUp(net/; s/{ round }/{ roundUp }/' invoice.ts; rm stock.ts; echo >> CHANGES.md";
  await (await agent.start({ argv: ['sh', '-c', fix], cwd: project, sandbox: held })).wait();
  await page.goto(`${opened.origin}/#/local/changes/fix-rounding`);
  await page.getByRole('button', { name: /^invoice\.ts/ }).click();
  await page.locator('.added').first().waitFor();
  await picture('changes');
  await page.goto(`${opened.origin}/#/`);
  await page.getByRole('button', { name: 'Light or dark' }).click();
  await page.locator('.chart').nth(4).waitFor();
  await picture('machines');
  await page.goto(`${opened.origin}/#/local/processes`);
  await page.setViewportSize({ width: 390, height: 720 });
  await page.getByText('waits for input').waitFor();
  await picture('phone');
});

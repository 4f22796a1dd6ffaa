// Needs: chromium
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { accessibilityProblems } from '../harness/accessibility.js';
import { screenText, shows, test, untilSeen } from '../harness/browser.js';
import { layoutProblems, watchShifts } from '../harness/layout.js';
import { TestFolder } from '../harness/processes.js';

const KEPT = { lease: 'kept', retain: 'disk' } as const;

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('output', () => {
  test('is shown by line, searched as a whole and downloaded', async ({ page, agent, at }) => {
    const script =
      'i=0; seq 1 30000; echo "\\033[31mFATAL: it broke\\033[0m"; seq 30001 60000; echo a needle; seq 1 2000';
    const child = await agent.start({ argv: ['sh', '-c', script], processId: 'lines', ...KEPT });
    await child.wait();
    await page.goto(at('processes/kept/lines/output'));
    await page.getByText('62,002 lines').waitFor();
    await page.getByText('complete').waitFor();
    // It follows, so the end is in view.
    await page.locator('.line', { hasText: /^620022000$/ }).waitFor();
    await page.getByRole('button', { name: 'First error' }).click();
    const error = page.locator('.line', { hasText: 'FATAL: it broke' });
    await error.waitFor();
    expect(await error.locator('span span').getAttribute('style')).toContain('color');
    await page.getByLabel('Search the whole output').fill('NEEDLE');
    await page.keyboard.press('Enter');
    await page.getByText('1 of 1').waitFor();
    await page.locator('.line.found', { hasText: 'a needle' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the output' }).click(),
    ]);
    const text = readFileSync(await download.path(), 'utf8');
    expect(text.split('\n')).toHaveLength(62_003);
    expect(text).toContain('\n60000\na needle\n1\n');
    // Few of the lines are in the page.
    expect(await page.locator('.line').count()).toBeLessThan(200);
  });

  test('follows what a running process prints', async ({ page, agent, at }) => {
    const child = await agent.start({ argv: ['cat'], pipeStdin: true, processId: 'follow', lease: 'kept' });
    await page.goto(at('processes/kept/follow/output'));
    await page.getByText('live', { exact: true }).waitFor();
    for (const line of ['first', 'second']) {
      await child.write(`${line}\n`);
      await page.locator('.line', { hasText: line }).waitFor();
    }
    await child.terminate();
    await page.getByText('complete').waitFor();
  });
});

describe('a recording', () => {
  test('is scrubbed, searched, played and downloaded, and the file is played as well', async ({
    page,
    agent,
    opened,
    at,
  }) => {
    const script = 'echo one; sleep 0.3; echo two; sleep 0.3; echo three';
    const child = await agent.start({ argv: ['sh', '-c', script], tty: true, processId: 'film', ...KEPT });
    await child.wait();
    await page.goto(at('processes/kept/film/replay'));
    await shows(page, 'three');
    const line = page.getByLabel('Time line');
    await line.focus();
    await page.keyboard.press('Home');
    await untilSeen(() => screenText(page)).not.toContain('two');
    await page.getByLabel('Find what was printed').fill('two');
    await page.keyboard.press('Enter');
    await shows(page, 'two');
    expect(await screenText(page)).not.toContain('three');
    await page.getByLabel('Speed').selectOption('4');
    await page.getByRole('button', { name: 'Play' }).click();
    await shows(page, 'three');
    await page.getByRole('button', { name: 'Play' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    const cast = readFileSync(await download.path());
    expect(JSON.parse(cast.toString().split('\n')[0] ?? '')).toMatchObject({
      version: 2,
      width: 80,
      height: 24,
    });
    await page.goto(`${opened.origin}/#/player`);
    const file = { name: 'film.cast', mimeType: 'application/octet-stream', buffer: cast };
    await page.setInputFiles('input[type=file]', file);
    await shows(page, 'three');
    await page.setInputFiles('input[type=file]', { ...file, buffer: Buffer.from('nonsense') });
    await page.getByText('The recording cannot be played').waitFor();
    // It can be dropped wherever one is.
    await page.goto(at('processes'));
    const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(cast.toString())}], 'film.cast'));
      return transfer;
    })()`);
    await page.dispatchEvent('.table', 'drop', { dataTransfer: transfer });
    await page.getByRole('heading', { name: 'Player' }).waitFor();
    await shows(page, 'three');
  });
});

describe('files', () => {
  test('are uploaded, compared, renamed, downloaded and deleted, and the list follows', async ({
    page,
    at,
  }) => {
    using folder = new TestFolder();
    writeFileSync(folder.file('a.ts'), 'const one = 1;\n// two\n');
    writeFileSync(folder.file('b.ts'), 'const one = 2;\n// two\n');
    await page.goto(at(`files/${encodeURIComponent(folder.path)}`));
    await page.getByRole('button', { name: 'a.ts', exact: true }).click();
    await page.locator('.tok-keyword', { hasText: 'const' }).waitFor();
    await page.getByLabel('Compare with').selectOption({ label: 'b.ts' });
    await page.locator('.removed', { hasText: 'const one = 2;' }).waitFor();
    await page.locator('.added', { hasText: 'const one = 1;' }).waitFor();
    const buffer = randomBytes(3_000_000);
    await page.setInputFiles('input[type=file]', { name: 'data.bin', mimeType: '', buffer });
    await page.getByText('data.bin was uploaded.').waitFor();
    expect(sha256(readFileSync(folder.file('data.bin')))).toBe(sha256(buffer));
    // What is there already is replaced only if somebody wants that.
    const again = { name: 'data.bin', mimeType: '', buffer: Buffer.from('other') };
    await page.setInputFiles('input[type=file]', again);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(sha256(readFileSync(folder.file('data.bin')))).toBe(sha256(buffer));
    await page.getByRole('button', { name: 'Rename data.bin', exact: true }).click();
    await page.getByLabel('New name').fill('a.ts');
    await page.getByText('There is something of that name already.').waitFor();
    await page.getByLabel('New name').press('Enter');
    await page.getByLabel('New name').fill('other.bin');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download other.bin' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('other.bin');
    expect(sha256(readFileSync(await download.path()))).toBe(sha256(buffer));
    await page.getByRole('button', { name: 'Delete other.bin' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(existsSync(folder.file('other.bin'))).toBe(true);
    await page.getByRole('button', { name: 'Delete other.bin' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await untilSeen(() => existsSync(folder.file('other.bin'))).toBe(false);
    writeFileSync(folder.file('from-elsewhere'), 'x');
    await page.getByRole('button', { name: 'from-elsewhere', exact: true }).waitFor();
  });

  test('that somebody made a moment ago are not replaced by an upload or a rename', async ({ page, at }) => {
    using folder = new TestFolder();
    writeFileSync(folder.file('mine'), 'mine');
    await page.goto(at(`files/${encodeURIComponent(folder.path)}`));
    await page.getByRole('button', { name: 'Rename mine', exact: true }).click();
    await page.getByLabel('New name').fill('theirs');
    // The page lists it some 200 ms later.
    writeFileSync(folder.file('theirs'), 'theirs');
    await page.keyboard.press('Enter');
    await page.getByText('There is something of that name already.').waitFor();
    // If the list was faster, the dialog says so and is still open.
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    writeFileSync(folder.file('theirs too'), 'theirs');
    const upload = { name: 'theirs too', mimeType: '', buffer: Buffer.from('other') };
    await page.setInputFiles('input[type=file]', upload);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    for (const name of ['theirs', 'theirs too'])
      expect(readFileSync(folder.file(name), 'utf8')).toBe('theirs');
    expect(readFileSync(folder.file('mine'), 'utf8')).toBe('mine');
  });
});

describe('somebody who only views', () => {
  test('watches and cannot change anything', async ({ page, agent, opened, at }) => {
    const child = await agent.start({ argv: ['cat'], tty: true, processId: 'seen', lease: 'kept' });
    await page.goto(`${opened.origin}/#/`);
    await page.getByRole('button', { name: 'Links for viewers' }).click();
    await page.getByRole('button', { name: 'Create a link' }).click();
    const link = await page.getByLabel('Copy it now').inputValue();
    const viewer = await opened.person({ link });
    await viewer.page.goto(at('processes/kept/seen/live'));
    await viewer.page.getByText('watching').waitFor();
    await child.write('hello\n');
    await shows(viewer.page, 'hello');
    for (const name of ['Take the keyboard', 'Terminate', 'Links for viewers'])
      expect(await viewer.page.getByRole('button', { name }).count()).toBe(0);
    expect(await viewer.page.getByRole('link', { name: 'Files' }).count()).toBe(0);
    // Whoever is sent such an address is told why there is nothing to see.
    for (const place of ['files', 'ports', 'changes']) {
      await viewer.page.goto(at(place));
      await viewer.page.getByText('This needs full access.').waitFor();
    }
    await page.getByRole('button', { name: /^Revoke/ }).click();
    await viewer.page.getByRole('heading', { name: 'Execwire' }).waitFor();
    await viewer.context.close();
    // Browsers report connections that are refused.
    opened.complaints.splice(0);
    await page.getByRole('button', { name: 'Done' }).click();
    await child.terminate();
  });
});

describe('the list', () => {
  test('is filtered, and signals and ends processes', async ({ page, agent, at }) => {
    const argv = ['sh', '-c', 'trap "echo caught; exit 3" USR1; while :; do sleep 0.1; done'];
    await agent.start({ argv, processId: 'trap', lease: 'kept' });
    await agent.start({ argv: ['sleep', '1000'], processId: 'sleeper' });
    await page.goto(at('processes'));
    await page.getByLabel('Filter processes').fill('sleep 1000');
    await page.getByRole('link', { name: 'sleep 1000' }).click();
    await page.getByText('by an agent').waitFor();
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Terminate' }).click();
    await page.getByText('SIGTERM', { exact: true }).first().waitFor();
    await page.goto(at('processes/kept/trap/output'));
    await page.getByLabel('Send a signal').selectOption('SIGUSR1');
    await page.getByText('exited 3').waitFor();
    await page.locator('.line', { hasText: 'caught' }).waitFor();
  });

  test('has room for a thousand', async ({ page, agent, at }) => {
    const start = (_: unknown, count: number): Promise<unknown> =>
      agent.start({ argv: ['true', `number ${count}`], processId: `many-${count}` });
    await Promise.all(Array.from({ length: 1_000 }, start));
    await page.goto(at('processes'));
    await page.getByRole('button', { name: 'All' }).click();
    await untilSeen(() => page.locator('table').getAttribute('aria-rowcount')).toMatch(/^1\d{3}$/);
    expect(await page.locator('tbody tr').count()).toBeLessThan(80);
    await page.getByLabel('Filter processes').fill('number 777');
    await page.getByRole('link', { name: "true 'number 777'" }).waitFor();
    await page.getByLabel('Filter processes').fill('');
    await page.setViewportSize({ width: 390, height: 780 });
    await untilSeen(
      async () => (await page.locator('tbody td.clip').first().boundingBox())?.width ?? 0,
    ).toBeGreaterThan(180);
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});

describe('everybody', () => {
  test.for([
    ['light', { width: 1280, height: 800 }],
    ['dark', { width: 1280, height: 800 }],
    ['light', { width: 390, height: 780 }],
  ] as const)(
    'finds the page accessible, and nothing in the way of anything else: %s %o',
    async ([colours, size], { opened }) => {
      const person = await opened.person({ size, dark: colours === 'dark' });
      await person.page.getByRole('heading', { name: 'Machines' }).waitFor();
      const problemsOf = async (): Promise<string[]> => [
        ...(await accessibilityProblems(person.page)),
        ...(await layoutProblems(person.page)),
      ];
      const places = [
        ['', '.chart'],
        ['local/processes', '.table[aria-rowcount]'],
        ['local/processes/kept/lines/output', '.lines .line'],
        ['local/processes/kept/film/replay', '.player-bar'],
        ['local/files', '.files .table'],
        ['local/ports', 'h1:text("Ports")'],
        ['local/changes', 'h1:text("Changes")'],
        ['player', '.empty'],
      ] as const;
      for (const [place, shown] of places) {
        await person.page.goto(`${opened.origin}/#/${place}`);
        await person.page.locator(`main ${shown}`).first().waitFor();
        expect({ place, problems: await problemsOf() }).toEqual({ place, problems: [] });
      }
      const menu = person.page.getByRole('button', { name: 'Menu' });
      if (await menu.isVisible()) {
        await menu.click();
        await person.page.getByRole('button', { name: 'Sign out' }).waitFor();
        expect(await problemsOf()).toEqual([]);
        await person.page.getByRole('link', { name: 'Machines', exact: true }).click();
      }
      await person.page.keyboard.press('Control+k');
      await person.page.getByRole('combobox').waitFor();
      expect(await problemsOf()).toEqual([]);
      await person.context.close();
    },
  );

  test('signs out', async ({ opened }) => {
    const person = await opened.person();
    await person.page.getByRole('button', { name: 'Sign out' }).click();
    await person.page.getByText('Open the link that the console printed').waitFor();
    await person.page.reload();
    await person.page.getByText('Open the link that the console printed').waitFor();
    expect(await accessibilityProblems(person.page)).toEqual([]);
    opened.complaints.splice(0);
    await person.context.close();
  });
});

/** Where numbers grow by a digit, they move a little. Layouts that move are called bad from 0.1 on. */
const MAX_SHIFT = 0.02;

test('measures of a machine are drawn as lines that grow, and nothing else moves', async ({ page, at }) => {
  await page.goto(at('').replace(/#.*/, '#/'));
  const chart = page.getByRole('img', { name: /^Memory in use: \d/ });
  await chart.waitFor();
  const line = chart.locator('.sparkline-line');
  const places = async (): Promise<string[]> =>
    ((await line.getAttribute('d')) ?? '').match(/[\d.]+,[\d.]+/g) ?? [];
  await untilSeen(async () => (await places()).length).toBeGreaterThanOrEqual(3);
  const shown = await places();
  const shifted = await watchShifts(page);
  expect(shown[0]).toMatch(/^0\.0,/);
  expect(shown.at(-1)).toMatch(/^300\.0,/);
  await untilSeen(async () => (await places()).length).toBeGreaterThan(shown.length);
  expect(await shifted()).toBeLessThan(MAX_SHIFT);
});

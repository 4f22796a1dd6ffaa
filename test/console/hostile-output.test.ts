// Needs: chromium
import { writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { shows, test, untilSeen } from '../harness/browser.js';
import { TestFolder } from '../harness/processes.js';

const KEPT = { lease: 'kept', retain: 'disk' } as const;

describe('hostile output', () => {
  const ATTACKS = [
    '\\033]0;<img src=x onerror=globalThis.pwned=1>\\007',
    '\\033]2;\\342\\200\\256title\\033\\\\',
    '\\033]8;;javascript:globalThis.pwned=1\\033\\\\link\\033]8;;\\033\\\\',
    '\\033]52;c;ZXZpbA==\\007',
    '\\033]52;c;?\\007',
    '\\033]10;?\\007\\033]4;1;?\\007\\033[c\\033[6n\\033[>q\\033]11;?\\007',
    '\\033P$q q\\033\\\\\\033_payload\\033\\\\\\033^x\\033\\\\',
    '<script>globalThis.pwned=1</script><b>bold</b>',
    '\\377\\376\\300\\200\\355\\240\\200',
    '\\033]1337;File=inline=1:AAAA\\007',
  ];

  test('never becomes markup, a page, clipboard content or input', async ({ page, agent, at }) => {
    const printed = ATTACKS.map((attack) => `printf '${attack}\\n'`).join('; ');
    const long = `head -c 300000 /dev/zero | tr '\\0' x; echo`;
    const script = `stty -echo; ${printed}; ${long}; echo done; read -r typed; echo "typed:$typed"`;
    const child = await agent.start({ argv: ['sh', '-c', script], tty: true, processId: 'hostile', ...KEPT });
    await page.goto(at('processes/kept/hostile/live'));
    await shows(page, 'done');
    await page.goto(at('processes/kept/hostile/output'));
    await page.locator('.line', { hasText: '<script>globalThis.pwned=1</script><b>bold</b>' }).waitFor();
    await page.goto(at('processes/kept/hostile/replay'));
    await shows(page, 'done');
    expect(await page.locator('.line b, .line img, .terminal-host img').count()).toBe(0);
    expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
    expect(page.context().pages()).toHaveLength(1);
    // Whoever watches answers no question of the program.
    await child.write('\n');
    await child.wait();
    const { lines } = await child.readLines({ from: -1 });
    expect(lines[0]?.text.trim()).toBe('typed:');
  });

  test('of live programs offers, and does nothing by itself', async ({ page, agent, at }) => {
    const script = `read go; printf '\\033]52;c;ZXZpbA==\\007\\033]2;<b>title</b>\\007'; echo done; read stay`;
    const child = await agent.start({
      argv: ['sh', '-c', script],
      tty: true,
      processId: 'offers',
      lease: 'kept',
    });
    await page.goto(at('processes/kept/offers/live'));
    await page.getByText('watching').waitFor();
    await child.write('\n');
    await page.getByText('The program offers text for the clipboard: evil').first().waitFor();
    await page.getByText('<b>title</b>', { exact: true }).waitFor();
    await child.terminate();
  });
});

test('files with hostile names are harmless, and can be opened', async ({ page, at }) => {
  using folder = new TestFolder();
  const names = [
    '<img src=x onerror=globalThis.pwned=1>.txt',
    'line\nbreak',
    '\u202egnp.exe',
    '"><script>globalThis.pwned=1</script>',
    'javascript:globalThis.pwned=1',
    ' ',
  ].filter((name) => !name.includes('/'));
  for (const name of names) writeFileSync(`${folder.path}/${name}`, '<b>bold</b>');
  writeFileSync(Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0x66, 0xff, 0xfe])]), 'bytes');
  await page.goto(at(`files/${encodeURIComponent(folder.path)}`));
  await page.getByRole('button', { name: 'line␊break', exact: true }).click();
  await page.locator('.code-line', { hasText: '<b>bold</b>' }).waitFor();
  await page.getByRole('button', { name: 'f\ufffd\ufffd', exact: true }).click();
  await page.locator('.code-line', { hasText: 'bytes' }).waitFor();
  expect(await page.locator('td img, td script, td b').count()).toBe(0);
  expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
});

test('a command cannot pass for another one', async ({ page, agent, at }) => {
  const arabic = '\u0645\u0631\u062d\u0628\u0627';
  const hidden = [
    '\u202egnp.sh\u2066',
    'a\u200bb\ufeff',
    '\u{e0041}tag',
    'line\nbreak\u2028',
    '\u001b[31mred',
    arabic,
  ];
  using cwd = new TestFolder();
  const child = await agent.start({
    argv: ['sh', '-c', 'exec sleep 1000', ...hidden],
    processId: 'masked',
    cwd: cwd.path,
  });
  await page.goto(at('processes'));
  const link = page.getByRole('link', { name: /gnp/ });
  const shown = (await link.textContent()) ?? '';
  // oxlint-disable-next-line no-control-regex -- these are what it is about
  expect(shown).not.toMatch(/[\u0000-\u001f\u200b\u2028\u202e\u2066\ufeff\u{e0041}]/u);
  expect(shown).toContain(arabic);
  await link.click();
  await page.getByRole('heading', { name: /gnp/ }).waitFor();
  expect(await page.title()).not.toContain('\u202e');
  // Whatever direction a name has, it does not move what stands beside it.
  await untilSeen(() => page.locator('.title bdi').count()).toBeGreaterThan(3);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('gnp');
  const palette = page.locator('#palette-list');
  await untilSeen(() => palette.textContent()).toContain('gnp');
  expect(await palette.textContent()).not.toContain('\u202e');
  await page.keyboard.press('Escape');
  await child.terminate();
});

test('pictures that are joined stay whole, and nothing else may join', async ({ page, agent, at }) => {
  const family = '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}';
  const child = await agent.start({
    argv: ['printf', `${family} x\u200dy\\n`],
    processId: 'joined',
    ...KEPT,
  });
  await child.wait();
  await page.goto(at('processes/kept/joined/output'));
  await page.locator('.line', { hasText: `${family} x\ufffdy` }).waitFor();
});

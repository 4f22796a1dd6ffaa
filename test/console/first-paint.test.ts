// Needs: chromium
import { expect } from 'vitest';
import { test } from '../harness/browser.js';

const MAX_BYTES = 350 * 1024;
const MAX_PAINT_MS = 500;
/** On a machine that is busy with something else: this many times what a page with nothing but a word takes. */
const MAX_PAINT_RATIO = 4;
const LOADS = 10;

/** Runs in the page: what was fetched, as it was sent. */
const FETCHED = `performance.getEntriesByType('resource').filter(({ name }) => /assets/.test(name))
  .map(({ name, encodedBodySize, decodedBodySize }) => ({ name, encodedBodySize, decodedBodySize }))`;

/** Runs in the page: when something was to be seen. What is in the document already may not have been painted yet. */
const FIRST_PAINT_MS = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntriesByName('first-contentful-paint')) resolve(startTime);
  }).observe({ type: 'paint', buffered: true });
})`;

interface Fetched {
  readonly name: string;
  readonly encodedBodySize: number;
  readonly decodedBodySize: number;
}

test('the page is small, and the terminal is fetched when there is one to show', async ({
  opened,
  agent,
  at,
}) => {
  const { page, context } = await opened.person();
  await page.getByRole('heading', { name: 'Machines' }).waitFor();
  const files = await page.evaluate<Fetched[]>(FETCHED);
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, each) => total + each, 0);
  const sent = sum(files.map(({ encodedBodySize }) => encodedBodySize));
  expect(sent).toBeLessThan(MAX_BYTES);
  // It is compressed on its way.
  expect(sent).toBeLessThan(sum(files.map(({ decodedBodySize }) => decodedBodySize)) / 2);
  expect(files.filter(({ name }) => name.includes('terminal'))).toEqual([]);
  const child = await agent.start({ argv: ['cat'], tty: true, processId: 'shown', lease: 'kept' });
  await page.goto(at('processes/kept/shown/live'));
  await page.getByText('watching').waitFor();
  const more = await page.evaluate<Fetched[]>(FETCHED);
  expect(more.some(({ name }) => name.includes('terminal'))).toBe(true);
  await child.terminate();
  await context.close();
});

test('something is to be seen within 500 ms', async ({ page, opened }) => {
  const context = await opened.window();
  const plain = await context.newPage();
  await plain.route('**/plain', (route) => route.fulfill({ contentType: 'text/html', body: 'word' }));
  const paints: string[] = [];
  let isFast = false;
  while (!isFast && paints.length < LOADS) {
    await plain.goto(`${opened.origin}/plain`);
    const plainMs = await plain.evaluate<number>(FIRST_PAINT_MS);
    await page.goto(`${opened.origin}/#/`);
    await page.reload();
    await page.getByRole('heading', { name: 'Machines' }).waitFor();
    const ms = await page.evaluate<number>(FIRST_PAINT_MS);
    isFast = ms < Math.max(MAX_PAINT_MS, plainMs * MAX_PAINT_RATIO);
    paints.push(`${Math.round(ms)} against ${Math.round(plainMs)} ms`);
  }
  expect(isFast, `first paint: ${paints.join(', ')}`).toBe(true);
  await context.close();
});

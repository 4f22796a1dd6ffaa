// Needs: chromium
import { expect, test } from 'vitest';
import { historyCues, render } from '../../src/recording/index.js';
import { launchBrowser } from '../harness/browser.js';
import { end, inTurn, joined, output, resize, start } from './make-history.js';

/** A program that types, overwrites a line, waits for a minute, clears the screen and grows. */
const HISTORY = [
  start({ rows: 4, cols: 20 }),
  output(100, 'one'),
  output(500, '\r\ntwo'),
  // A flood within one frame: only its last state can be seen.
  ...Array.from({ length: 20 }, (_, index) => output(1_000 + index, `\r\u001b[31m${index}`)),
  output(61_000, '\u001b[0m\u001b[2J\u001b[Hlast'),
  resize(61_500, 40, 8),
  output(62_000, `\r\n${'x'.repeat(40)}`),
  end(62_500),
];

interface Moment {
  readonly at: number;
  readonly lines: readonly string[];
}

async function animation(): Promise<string> {
  return await joined(render(historyCues(inTurn(HISTORY)), 'svg-animated'));
}

test('a moving picture shows each screen at its time, without long pauses, and begins again', async () => {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.setContent(await animation());
    const times = [0.05, 0.2, 0.6, 1.5, 2.95, 3.1, 4.3];
    // The page has no types of the browser.
    const moments: Moment[] = await page.evaluate(`(${look.toString()})(${JSON.stringify(times)})`);
    expect(moments).toEqual([
      { at: 0.05, lines: [] },
      { at: 0.2, lines: ['one'] },
      { at: 0.6, lines: ['one', 'two'] },
      { at: 1.5, lines: ['one', '19o'] },
      { at: 2.95, lines: ['one', '19o'] },
      { at: 3.1, lines: ['last'] },
      { at: 4.3, lines: ['last', 'x'.repeat(20)] },
    ]);
    const length = 4.52 + 3;
    const again: Moment[] = await page.evaluate(
      `(${look.toString()})(${JSON.stringify([length + 0.05, length + 0.6])})`,
    );
    expect(again.map(({ lines }) => lines)).toEqual([[], ['one', 'two']]);
  } finally {
    await browser.close();
  }
});

/** Runs in the page: which lines can be seen at each time, from top to bottom. */
function look(times: readonly number[]): unknown {
  const page = globalThis as unknown as {
    document: { querySelector(name: string): Picture; querySelectorAll(name: string): Iterable<Line> };
    getComputedStyle(line: Line): { visibility: string };
  };
  const picture = page.document.querySelector('svg');
  picture.pauseAnimations();
  return times.map((at) => {
    picture.setCurrentTime(at);
    const rows = new Map<number, string>();
    for (const line of page.document.querySelectorAll('text')) {
      if (page.getComputedStyle(line).visibility !== 'visible') continue;
      const row = Number(line.getAttribute('y'));
      rows.set(row, (rows.get(row) ?? '') + line.textContent);
    }
    return { at, lines: [...rows].sort(([a], [b]) => a - b).map(([, text]) => text) };
  });
}

interface Picture {
  pauseAnimations(): void;
  setCurrentTime(seconds: number): void;
}

interface Line {
  readonly textContent: string;
  getAttribute(name: string): string | null;
}

test('where pictures do not move, the last screen is shown', async () => {
  const shownAtFirst = (await animation()).replaceAll(/<g visibility="hidden">[^]*?<\/g>/g, '');
  expect([...shownAtFirst.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text)).toEqual([
    'last',
    'x'.repeat(20),
  ]);
});

// Needs: chromium
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess } from '../../src/contract/index.js';
import { heapOf, shows, test } from '../harness/browser.js';

/** Whoever measures wants to see it last. */
const FLOOD_BYTES = process.env['EXECWIRE_FIGURES'] ? 500_000_000 : 40_000_000;
/** Of the frames of a page where nothing happens, a flooded one shows at least this share. */
const MIN_SHARE_OF_FRAMES = 0.1;
/** A tab that shows nothing for this share of the flood is frozen. */
const MAX_SHARE_WITHOUT_FRAME = 0.5;
/** The page and its browser need their share of the machine; to somebody who only reads, a program prints at most so much faster. */
const MAX_TIME_RATIO = 4;
const MAX_HEAP_BYTES = 100_000_000;

/** Runs in a page: notes when there is a new frame. */
const WATCH_FRAMES = `{
  globalThis.frames = [];
  const tick = (now) => {
    globalThis.frames.push(now);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}`;

interface Frames {
  readonly count: number;
  /** The longest time without one. */
  readonly longestMs: number;
}

async function framesOf(page: Page): Promise<Frames> {
  const [at, nowMs] = await page.evaluate<[number[], number]>('[globalThis.frames, performance.now()]');
  const ends = [...at.slice(1), nowMs];
  return { count: at.length, longestMs: Math.max(...ends.map((end, index) => end - (at[index] ?? end))) };
}

const FLOOD = {
  argv: [
    'sh',
    '-c',
    `read go; yes "a line of a flood 0123456789" | head -c ${FLOOD_BYTES}; echo; echo the end`,
  ],
  tty: true,
  env: { TERM: 'xterm-256color' },
  size: { rows: 24, cols: 80 },
  lease: 'kept',
} as const;

/** Lets it begin, and tells how long it takes to end. Nobody reads from here, so only those who watch could make it wait. */
async function run(agent: RemoteEnvironment, child: ExecProcess): Promise<number> {
  const began = performance.now();
  await child.write('\n');
  await child.detach();
  await agent.waitFor(child.processId);
  return performance.now() - began;
}

/** Watches a terminal as a page does, without showing it. */
async function watchBarely(url: string, processId: string): Promise<RemoteEnvironment> {
  const watcher = await RemoteEnvironment.connect({
    id: 'bare',
    resume: false,
    dial: () => dialWebSocket(url),
  });
  const child = await watcher.attach(processId, { screen: true, keyboard: 'none' });
  const follow = async (): Promise<void> => {
    for await (const event of child.events({ afterSeq: child.screen?.afterSeq ?? 0 }))
      if (event.type === 'gap') await child.refresh?.();
  };
  // It ends with the connection.
  follow().catch(() => undefined);
  return watcher;
}

test('a page stays smooth while a program floods its terminal, in bounded memory', async ({
  agent,
  opened,
  at,
}) => {
  const unseen = process.env['EXECWIRE_FIGURES'] && (await agent.start({ ...FLOOD, processId: 'unseen' }));
  const unseenMs = unseen ? await run(agent, unseen) : Number.NaN;
  const watched = await agent.start({ ...FLOOD, processId: 'watched' });
  const watcher = await watchBarely(opened.url, 'watched');
  const bareMs = await run(agent, watched);
  await watcher.close();

  const { page, context } = await opened.person();
  const child = await agent.start({ ...FLOOD, processId: 'flood' });
  await page.goto(at('processes/kept/flood/live'));
  await page.getByText('watching').waitFor();
  // At the same time, on the same machine: whatever else it has to do slows both. A window of its own is never in the background.
  const calmContext = await opened.window();
  const calm = await calmContext.newPage();
  for (const each of [page, calm]) await each.evaluate(WATCH_FRAMES);
  const tookMs = await run(agent, child);
  const [flooded, atRest] = [await framesOf(page), await framesOf(calm)];
  await shows(page, 'the end');
  const heapBytes = await heapOf(page);
  // For those who measure: MB/s in the page, to somebody who only reads, and to nobody.
  if (process.env['EXECWIRE_FIGURES'])
    console.log({
      rates: [tookMs, bareMs, unseenMs].map((ms) => FLOOD_BYTES / 1000 / ms),
      flooded,
      atRest,
      heapBytes,
    });
  expect(flooded.count).toBeGreaterThan(atRest.count * MIN_SHARE_OF_FRAMES);
  expect(flooded.longestMs).toBeLessThan(tookMs * MAX_SHARE_WITHOUT_FRAME);
  expect(tookMs).toBeLessThan(bareMs * MAX_TIME_RATIO);
  expect(heapBytes).toBeLessThan(MAX_HEAP_BYTES);
  await calmContext.close();
  await context.close();
});

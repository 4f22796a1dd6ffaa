import type { Page } from 'playwright-core';

/** Rows of controls and of words, where things stand side by side or wrap. */
const ROWS = '.head, .terminal-bar, .player-bar, .dialog-foot, .side-bar, .chart-head';
/** What is meant to be scrolled sideways, or to be clipped. */
const SCROLLED = '.lines, .preview, .terminal-host, .clip, .visually-hidden, svg';

/** Runs in the page: what does not fit into it, and what lies on something else. */
const LOOK = `(() => {
  const problems = [];
  const named = (element) => element.tagName.toLowerCase() + '.' + element.className + ' ' + element.textContent.slice(0, 40);
  if (document.documentElement.scrollWidth > innerWidth) problems.push('the page scrolls sideways');
  for (const element of document.querySelectorAll('body *')) {
    const { width, right } = element.getBoundingClientRect();
    if (width > 0 && right > innerWidth + 1 && !element.closest('${SCROLLED}')) problems.push('outside: ' + named(element));
  }
  for (const row of document.querySelectorAll('${ROWS}')) {
    if (row.scrollWidth > row.clientWidth + 1) problems.push('too narrow: ' + named(row));
    const places = [...row.children].map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ element, box }) => box.width > 0 && box.height > 0 && !element.classList.contains('visually-hidden'));
    for (const [index, { element, box }] of places.entries())
      for (const other of places.slice(index + 1))
        if (box.left < other.box.right - 1 && other.box.left < box.right - 1
          && box.top < other.box.bottom - 1 && other.box.top < box.bottom - 1)
          problems.push('overlap: ' + named(element) + ' and ' + named(other.element));
  }
  return problems;
})()`;

/** What is wrong with the layout of a page as it is shown now: it scrolls sideways, something sticks out, or things overlap. */
export async function layoutProblems(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(LOOK);
}

/** Starts to add up how far things move in a page without anybody having done anything. */
export async function watchShifts(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`{
    globalThis.shifted = 0;
    globalThis.shifts = new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shifted += value;
    });
    globalThis.shifts.observe({ type: 'layout-shift' });
  }`);
  return async () => await page.evaluate<number>('globalThis.shifted');
}

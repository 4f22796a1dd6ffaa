import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What the accessibility rules complain about in a page: names of rules and where. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  // What a terminal draws is on a canvas; its text for screen readers is transparent.
  const where = `{ include: [['body']], exclude: [['.terminal-host']] }`;
  const run = `${source}; axe.run(${where}, { resultTypes: ['violations'] })`;
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(run);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  );
}

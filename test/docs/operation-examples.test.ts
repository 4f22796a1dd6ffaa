import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.js';

const example = (name: string): string =>
  readFileSync(new URL(`../../examples/operation/${name}`, import.meta.url), 'utf8');

/** The options of `serve` in a text. */
const optionsIn = (text: string): string[] => text.match(/--[a-z][a-z0-9-]+/g) ?? [];

test('the unit and the Containerfile use options that exist', async () => {
  const program = await createProgram('serve');
  const known = program.commands[0]?.options.map(({ long }) => long) ?? [];
  const unit = example('execwire.service').replaceAll('\\\n', ' ');
  const [, start = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  const container = example('Containerfile')
    .split('\n')
    .filter((line) => /^(ENTRYPOINT|CMD)/.test(line))
    .join(' ');
  for (const text of [start, container]) {
    expect(optionsIn(text).length).toBeGreaterThan(2);
    for (const option of optionsIn(text)) expect(known).toContain(option);
  }
});

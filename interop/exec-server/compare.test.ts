import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codexServer, execwireServer } from '../harness/exec-server.js';
import { ExecBench } from './bench.js';
import { execCases } from './cases.js';
import { differences } from './differences.js';

/** What comes back must be the same, or the case be named in the table; and what the table names must be different. */
describe('exec servers', () => {
  let execwire: ExecBench;
  let codex: ExecBench;
  beforeAll(async () => {
    [execwire, codex] = await Promise.all([ExecBench.open(execwireServer), ExecBench.open(codexServer)]);
  });
  afterAll(async () => {
    await Promise.all([execwire[Symbol.asyncDispose](), codex[Symbol.asyncDispose]()]);
  });

  for (const { name, play } of execCases) {
    const known = differences[name] !== undefined;
    test(known ? `${name} (differs)` : name, async () => {
      const [ours, theirs] = [await play(execwire), await play(codex)];
      if (known) expect(ours).not.toEqual(theirs);
      else expect(ours).toEqual(theirs);
    });
  }

  test('the table names only what is played', () => {
    const played = new Set(execCases.map(({ name }) => name));
    expect(Object.keys(differences).filter((name) => !played.has(name))).toEqual([]);
  });
});

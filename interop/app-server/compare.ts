import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TransportName } from './app-server-process.js';
import type { AppCase } from './case.js';
import { differences } from './differences.js';
import { openPair, type Pair } from './pair.js';

/**
 * Plays each case on both servers. What comes back must be the same, or the case be named in the table of differences;
 * and what the table names must be different.
 */
export function compareServers(transport: TransportName, cases: readonly AppCase[]): void {
  describe(`app servers over ${transport}`, () => {
    let pair: Pair;
    beforeAll(async () => {
      pair = await openPair(transport);
    });
    afterAll(() => pair[Symbol.asyncDispose]());

    for (const each of cases) {
      const known = differences[each.name] !== undefined;
      test(known ? `${each.name} (differs)` : each.name, async () => {
        const { execwire, codex } = await pair.play(each);
        // Alike again: then it goes out of the table.
        if (known) expect(execwire).not.toEqual(codex);
        else expect(execwire).toEqual(codex);
      });
    }
  });
}

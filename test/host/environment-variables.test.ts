import { describe, expect, test } from 'vitest';
import { childEnvironment } from '../../src/host/environment-variables.js';

/** Which of these names a pattern lets through. */
function matching(pattern: string, names: readonly string[]): string[] {
  const set = Object.fromEntries(names.map((name) => [name, '']));
  const rules = { ignoreDefaultExcludes: true, exclude: [], set, includeOnly: [pattern] };
  return Object.keys(childEnvironment({ own: {}, policy: { inherit: 'none', ...rules }, overlay: {} }));
}

describe('patterns of an environment policy', () => {
  test.each([
    ['PATH', ['PATH', 'path'], ['PATHS', 'XPATH', '']],
    ['LC_*', ['LC_ALL', 'lc_', 'LC_*'], ['LC', 'XLC_ALL']],
    ['*TOKEN*', ['TOKEN', 'MY_TOKEN_2', 'tokens'], ['TOKE', 'TO_KEN']],
    ['A?C', ['ABC', 'a.c'], ['AC', 'ABBC']],
    ['*a*ab', ['aab', 'xaxab', 'aaab'], ['ab', 'aba']],
    ['a.b+(c)[d]^$|\\', ['a.b+(c)[d]^$|\\'], ['axb+(c)[d]^$|\\']],
    ['**', ['', 'anything'], []],
    ['?*?', ['ab', 'abc'], ['a', '']],
  ])('%s', (pattern, fits, others) => {
    expect(matching(pattern, [...fits, ...others])).toEqual(fits);
  });

  test('take no longer for being hard to match', () => {
    // With expressions that try every way this would not end in a lifetime.
    expect(matching(`${'*a'.repeat(40)}*b`, ['a'.repeat(400)])).toEqual([]);
  });
});

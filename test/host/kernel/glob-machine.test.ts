import { describe, expect, test } from 'vitest';
import { childEnvironment } from '../../../src/host/environment-variables.js';
import { PathFilter } from '../../../src/host/files/search/path-filter.js';
import {
  anyCharacter,
  GlobMachine,
  inName,
  only,
  type PatternToken,
} from '../../../src/host/kernel/glob-machine.js';
import { compileGlob } from '../../../src/host/sandbox/plan/glob.js';
import type { EnvPolicy } from '../../../src/protocol/index.js';
import { seededRandom } from '../../harness/random.js';

/** Tries every way there is, which takes for ever with long texts. */
function fitsSlowly(tokens: readonly PatternToken[], text: readonly number[]): boolean {
  const [token, ...rest] = tokens;
  const [code, ...behind] = text;
  if (token === undefined) return code === undefined;
  if (token.kind === 'oneOf') {
    const options = token.options.length === 0 ? [[]] : token.options;
    return options.some((option) => fitsSlowly([...option, ...rest], text));
  }
  const reads = code !== undefined && token.fits(code);
  if (token.kind === 'one') return reads && fitsSlowly(rest, behind);
  return fitsSlowly(rest, text) || (reads && fitsSlowly(tokens, behind));
}

const codesOf = (text: string) => Array.from(text, (character) => character.codePointAt(0) ?? 0);
const literal = (text: string): PatternToken[] =>
  codesOf(text).map((code) => ({ kind: 'one', fits: only(code) }));
const star: PatternToken = { kind: 'many', fits: anyCharacter };

describe('patterns', () => {
  test('fit what they fit when every way is tried', () => {
    const random = seededRandom(7);
    const pick = <T>(among: readonly T[]): T => among[Math.floor(random() * among.length)] as T;
    const some = <T>(most: number, make: () => T): T[] =>
      Array.from({ length: Math.floor(random() * (most + 1)) }, make);
    const token = (depth: number): PatternToken => {
      if (depth > 0 && random() < 0.2)
        return { kind: 'oneOf', options: some(3, () => some(3, () => token(depth - 1))) };
      const fits = pick([anyCharacter, inName, only(0x61), only(0x62), only(0x2f), only(0x1f600)]);
      return { kind: pick(['one', 'one', 'many']), fits };
    };
    let fitting = 0;
    for (let round = 0; round < 400; round += 1) {
      const patterns = [some(6, () => token(2)), some(6, () => token(2))];
      const machine = new GlobMachine(patterns);
      for (const text of Array.from({ length: 12 }, () =>
        some(7, () => pick(['a', 'b', '/', '😀'])).join(''),
      )) {
        const wanted = patterns.flatMap((each, index) => (fitsSlowly(each, codesOf(text)) ? [index] : []));
        const cut = Array.from(text).slice(0, 2).join('');
        const progress = machine.advance(machine.advance(machine.start, cut), text.slice(cut.length));
        expect(new Set(machine.fitting(progress))).toEqual(new Set(wanted));
        expect(machine.matches(text)).toBe(wanted.length > 0);
        fitting += wanted.length;
      }
    }
    expect(fitting).toBeGreaterThan(500);
  });

  test('still fit when there are more ways than are remembered', () => {
    // The 12th character from the end: all sets of twelve places occur.
    const anywhere: PatternToken = { kind: 'one', fits: anyCharacter };
    const machine = new GlobMachine([[star, ...literal('a'), ...Array.from({ length: 11 }, () => anywhere)]]);
    const random = seededRandom(3);
    for (let round = 0; round < 200; round += 1) {
      const text = Array.from({ length: 100 }, () => (random() < 0.5 ? 'a' : 'b')).join('');
      expect(machine.matches(text)).toBe(text.at(-12) === 'a');
    }
  });

  test('know the beginning from a place that looks like it', () => {
    const filter = new PathFilter(['/*', '!/b']);
    const inside = filter.enter(filter.enter(filter.start, 'a'), 'b');
    expect(filter.judge(inside, false)).toBe('unwanted');
    expect(filter.judge(filter.enter(filter.start, 'a'), false)).toBe('wanted');
  });
});

describe('a hostile pattern', () => {
  const hostile = '*a'.repeat(200);
  const names = ['a'.repeat(4000), `${'a'.repeat(3999)}c`, 'ab'.repeat(2000)];

  /** As it is with a machine that has time for us; others may have more to do than we. */
  function fastest(measure: () => void): number {
    return Math.min(
      ...Array.from({ length: 5 }, () => {
        const began = performance.now();
        measure();
        return performance.now() - began;
      }),
    );
  }

  test.each([`/${hostile}*z`, `/${'*a?'.repeat(130)}*z`, `/{${'*a*d,'.repeat(50)}*z}`])(
    'of a policy: %.20s',
    (pattern) => {
      const took = fastest(() => {
        const { matches } = compileGlob(pattern);
        for (const name of names) expect(matches(`/${name}`)).toBe(false);
      });
      expect(took).toBeLessThan(200);
    },
  );

  test.each([`${hostile}*z`, `**/${hostile}*z`, `{${'*a*d,'.repeat(50)}*z}`])(
    'of a search: %.20s',
    (pattern) => {
      const took = fastest(() => {
        const filter = new PathFilter([pattern]);
        for (const name of names)
          expect(filter.judge(filter.enter(filter.start, name), false)).toBe('unwanted');
      });
      expect(took).toBeLessThan(200);
    },
  );

  test('of variables', () => {
    const policy: EnvPolicy = {
      inherit: 'all',
      ignoreDefaultExcludes: true,
      exclude: [`${hostile}*z`],
      set: {},
      includeOnly: [],
    };
    const own = Object.fromEntries(names.map((name) => [name, 'x']));
    const took = fastest(() => {
      expect(childEnvironment({ own, policy, overlay: {} })).toEqual(own);
    });
    expect(took).toBeLessThan(200);
  });
});

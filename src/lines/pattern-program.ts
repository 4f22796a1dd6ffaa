import { normalized, withBothCases } from './code-ranges.js';
import { invalidPattern } from './invalid-pattern.js';
import type { Assertion, PatternNode } from './pattern-syntax.js';
import { type ByteRange, utf8Sequences } from './utf8-ranges.js';

/** One step of a pattern. Numbers refer to other steps. */
export type Step =
  | { readonly kind: 'byte'; readonly from: number; readonly to: number; readonly next: number }
  | { readonly kind: 'fork'; readonly next: number[] }
  | { readonly kind: 'assertion'; readonly what: Assertion; readonly next: number }
  | { readonly kind: 'match' };

export interface PatternProgram {
  readonly steps: readonly Step[];
  readonly start: number;
}

type PatternSet = Extract<PatternNode, { kind: 'set' }>;

/** A pattern with more steps than this would be slow for every byte. */
const MAX_STEPS = 10_000;

/** Bytes that never begin a character in UTF-8. */
const ODD_BYTES: readonly ByteRange[] = [
  [0x80, 0xc1],
  [0xf5, 0xff],
];

/** Compiles a pattern into steps over bytes, so that output is searched without decoding it. */
export function compilePattern(node: PatternNode, { ignoreCase }: { ignoreCase: boolean }): PatternProgram {
  const steps: Step[] = [];
  const add = (step: Step): number => {
    if (steps.length >= MAX_STEPS) throw invalidPattern('it is too large. Use fewer repetitions');
    return steps.push(step) - 1;
  };
  /** Characters of a set with the same last bytes share the steps for them. */
  const chain = (ranges: readonly ByteRange[], next: number, shared: Map<string, number>): number =>
    ranges.reduceRight((following, [from, to]) => {
      const key = `${from} ${to} ${following}`;
      const step = shared.get(key) ?? add({ kind: 'byte', from, to, next: following });
      shared.set(key, step);
      return step;
    }, next);
  /** The byte sequences of each set, computed once even if the set is repeated. */
  const known = new Map<PatternSet, readonly (readonly ByteRange[])[]>();
  const formsOf = (part: PatternSet): readonly (readonly ByteRange[])[] => {
    const wanted = ignoreCase ? withBothCases(part.ranges) : normalized(part.ranges);
    const forms = [...wanted.flatMap(utf8Sequences), ...(part.odd ? ODD_BYTES.map((range) => [range]) : [])];
    known.set(part, forms);
    return forms;
  };
  const set = (part: PatternSet, next: number): number => {
    const shared = new Map<string, number>();
    const starts = (known.get(part) ?? formsOf(part)).map((form) => chain(form, next, shared));
    return starts.length === 1 ? (starts[0] ?? next) : add({ kind: 'fork', next: starts });
  };
  const repeat = ({ what, min, max }: Extract<PatternNode, { kind: 'repeat' }>, next: number): number => {
    let entry = next;
    if (max === Number.POSITIVE_INFINITY) {
      const fork: Step = { kind: 'fork', next: [next] };
      entry = add(fork);
      fork.next.push(build(what, entry));
    } else {
      for (let count = min; count < max; count += 1)
        entry = add({ kind: 'fork', next: [build(what, entry), next] });
    }
    for (let count = 0; count < min; count += 1) entry = build(what, entry);
    return entry;
  };
  /** Adds the steps of a node that lead to `next`, and returns the first. */
  const build = (part: PatternNode, next: number): number => {
    switch (part.kind) {
      case 'set':
        return set(part, next);
      case 'sequence':
        return part.parts.reduceRight((following, each) => build(each, following), next);
      case 'choice':
        return add({ kind: 'fork', next: part.options.map((each) => build(each, next)) });
      case 'repeat':
        return repeat(part, next);
      case 'assertion':
        return add({ kind: 'assertion', what: part.what, next });
    }
  };
  const start = build(node, add({ kind: 'match' }));
  return { steps, start };
}

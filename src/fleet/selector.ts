import { ExecError } from '../protocol/errors.js';
import type { Machine } from './machine.js';

/** One condition: the label has one of these values, or any if there are none. */
export interface SelectorTerm {
  readonly key: string;
  readonly values: readonly string[];
  readonly negated: boolean;
}

/** Which machines are meant. All conditions must hold. */
export interface Selector {
  readonly text: string;
  readonly terms: readonly SelectorTerm[];
}

/** Conditions in a selector. */
const MAX_TERMS = 32;
const MAX_SELECTOR_CHARS = 2048;
const KEY = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * Parses `pool=ci,os=linux`: `key=value`, `key=one|two`, `key!=value`, `key` (has the label), `!key` (has it not),
 * separated by commas or, as in URLs, `&`. `name` stands for the name of the machine.
 */
export function parseSelector(text: string): Selector {
  const parts = text.split(/[,&]/).filter((part) => part !== '');
  if (text.length > MAX_SELECTOR_CHARS || parts.length > MAX_TERMS)
    throw new ExecError('invalidConfiguration', `A selector has at most ${MAX_TERMS} conditions.`);
  return { text, terms: parts.map(parseTerm) };
}

function parseTerm(part: string): SelectorTerm {
  const [, not = '', key = '', operator, values = ''] = /^(!?)([^=!]+)(?:(!?=)(.*))?$/.exec(part) ?? [];
  if (!KEY.test(key) || (not !== '' && operator !== undefined))
    throw new ExecError(
      'invalidConfiguration',
      `"${part.slice(0, 80)}" is not a condition: use key=value, key=one|two, key!=value, key or !key.`,
    );
  const negated = not !== '' || operator === '!=';
  return { key, negated, values: operator === undefined ? [] : values.split('|').map(decoded) };
}

/** Selectors occur in URLs. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function matches({ terms }: Selector, machine: Pick<Machine, 'name' | 'labels'>): boolean {
  return terms.every((term) => holds(term, machine));
}

function holds(
  { key, values, negated }: SelectorTerm,
  { name, labels }: Pick<Machine, 'name' | 'labels'>,
): boolean {
  const value = key === 'name' ? name : Object.hasOwn(labels, key) ? labels[key] : undefined;
  const isMet = value !== undefined && (values.length === 0 || values.includes(value));
  return isMet !== negated;
}

function termText({ key, values, negated }: SelectorTerm): string {
  if (values.length === 0) return negated ? `!${key}` : key;
  return `${key}${negated ? '!=' : '='}${values.join('|')}`;
}

/** Explains an empty selection: names the conditions that no machine meets. */
export function explainNoMatch(selector: Selector, machines: readonly Machine[]): string {
  if (machines.length === 0) return 'No machine is in the fleet.';
  const never = selector.terms.filter((term) => !machines.some((machine) => holds(term, machine)));
  const why =
    never.length === 0
      ? 'no machine meets all conditions at once'
      : `no machine meets ${never.map(termText).join(', ')}`;
  return `None of ${machines.length} machines matches "${selector.text}": ${why}.`;
}

/** The machines that match, as the beginning of a sentence. */
export function allThatMatch({ text }: Pick<Selector, 'text'>, count: number): string {
  const which = (verb: string): string => (text === '' ? '' : ` that ${verb} "${text}"`);
  return count === 1
    ? `The only machine${which('matches')} is`
    : `All ${count} machines${which('match')} are`;
}

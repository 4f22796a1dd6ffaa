import { ExecError } from '../../protocol/errors.js';
import { anyCharacter, GlobMachine, only, type PatternToken } from '../kernel/index.js';
import { type Authority, canonicalHost } from './host-name.js';

/** One pattern for hosts. */
interface HostPattern {
  readonly tokens: readonly PatternToken[];
  /** Any, if undefined. */
  readonly port: number | undefined;
  /** The host, if it has no wildcard. */
  readonly literal: string | undefined;
}

/** `a.*.c`: all but the wildcards is as in a host name. */
const WILD_HOST = /^[a-z0-9_.*?-]+$/;

/**
 * A list of patterns for hosts. `example.com` is that host alone, `*.example.com` every name below it, and
 * `**.example.com` both. `*` stands for any characters, dots too, `?` for one. `:443` behind it limits a pattern to a
 * port.
 */
export class HostPatterns {
  readonly #patterns: readonly HostPattern[];
  readonly #machine: GlobMachine;

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map(parsePattern);
    this.#machine = new GlobMachine(this.#patterns.map(({ tokens }) => tokens));
  }

  matches({ host, port }: Authority): boolean {
    const machine = this.#machine;
    const fitting = machine.fitting(machine.advance(machine.start, host));
    return fitting.some((index) => covers(this.#patterns[index], port));
  }

  /** True if a pattern names the host itself. */
  names({ host, port }: Authority): boolean {
    return this.#patterns.some((pattern) => pattern.literal === host && covers(pattern, port));
  }

  /** The hosts that are named themselves. */
  get literals(): string[] {
    return this.#patterns.flatMap(({ literal }) => literal ?? []);
  }
}

function covers(pattern: HostPattern | undefined, port: number): boolean {
  return pattern !== undefined && (pattern.port === undefined || pattern.port === port);
}

function parsePattern(text: string): HostPattern {
  const { name, port } = withoutPort(text.trim().toLowerCase());
  const inner = name.replace(/^\[(.*)\]$/, '$1').replace(/(?<=[^.*])\.$/, '');
  if (!/[*?]/.test(inner)) {
    const literal = canonicalHost(inner);
    if (literal === null) throw unusable(text);
    return { tokens: characters(literal), port, literal };
  }
  const base = inner.replace(/^\*\*\./, '');
  const isWhole = base !== inner;
  if (!WILD_HOST.test(base) || base.includes('**') || /(^|\.)(\.|$)/.test(base)) throw unusable(text);
  const tokens = wildcards(base);
  return {
    tokens: isWhole ? [{ kind: 'oneOf', options: [[], [...wildcards('*.')]] }, ...tokens] : tokens,
    port,
    literal: undefined,
  };
}

function withoutPort(text: string): { name: string; port: number | undefined } {
  const [, name, digits] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(text) ?? [];
  if (name === undefined) return { name: text, port: undefined };
  const port = Number(digits);
  if (port < 1 || port > 65_535) throw unusable(text);
  return { name, port };
}

function characters(text: string): PatternToken[] {
  return text.split('').map((character) => ({ kind: 'one', fits: only(character.codePointAt(0) ?? 0) }));
}

function wildcards(text: string): PatternToken[] {
  return text.split('').map((character) => {
    if (character === '*') return { kind: 'many', fits: anyCharacter };
    return { kind: 'one', fits: character === '?' ? anyCharacter : only(character.codePointAt(0) ?? 0) };
  });
}

function unusable(text: string): ExecError {
  return new ExecError(
    'invalidParams',
    `"${text.slice(0, 64)}" is not a valid host pattern. Write example.com, *.example.com or example.com:443.`,
  );
}

import { InvalidArgumentError } from 'commander';
import type { NetworkRules } from '../../protocol/index.js';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `500ms`, `30s`, `2m`, `1h`; a bare number is seconds, as with `timeout(1)`. */
export function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Math.round(Number(amount) * (UNIT_MS[unit ?? 's'] ?? Number.NaN));
  if (!Number.isSafeInteger(ms) || ms <= 0)
    throw new InvalidArgumentError('Use a time such as 500ms, 30s or 2m.');
  return ms;
}

const DAY_MS = 86_400_000;

/** A moment: `10m` and the like are before now, and negative. Otherwise a time such as `2026-11-16T12:00`. */
export function parseSince(text: string): number {
  const [, days] = /^(\d{1,6})d$/.exec(text) ?? [];
  if (days !== undefined) return -Number(days) * DAY_MS;
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(time) && time >= 0) return time;
  try {
    return -parseDuration(text);
  } catch {
    throw new InvalidArgumentError(
      'Use 10m, 2h or 1d for that long ago, or a time such as 2026-11-16T12:00.',
    );
  }
}

/** A time, or `kept`. */
export function parseLease(text: string): number | 'kept' {
  return text === 'kept' ? text : parseDuration(text);
}

/** Collects `NAME=VALUE`; a bare `NAME` takes its value from our own environment, if set. */
export function collectVariable(
  text: string,
  previous: Readonly<Record<string, string>>,
): Record<string, string> {
  const equals = text.indexOf('=');
  const name = equals === -1 ? text : text.slice(0, equals);
  if (name === '')
    throw new InvalidArgumentError('Use NAME=VALUE, or NAME to pass on the value it has here.');
  const value = equals === -1 ? process.env[name] : text.slice(equals + 1);
  return value === undefined ? { ...previous } : { ...previous, [name]: value };
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, previous: readonly string[]): string[] {
  return [...previous, value];
}

const HOST_LISTS = ['allow', 'deny'] as const;

interface HostRules {
  allow: string[];
  deny: string[];
  ask?: boolean;
}

/** Collects `allow=HOST,…` and `deny=HOST,…`. The option may be repeated, and both may be given at once with a blank. */
export function collectHosts(text: string, previous: NetworkRules | true | undefined): NetworkRules {
  const { allow = [], deny = [], ask } = previous === true || previous === undefined ? {} : previous;
  const rules: HostRules = { allow: [...allow], deny: [...deny], ...(ask ? { ask } : {}) };
  for (const part of text.split(/\s+/).filter((each) => each !== '')) {
    if (part === 'ask') {
      rules.ask = true;
      continue;
    }
    const list = HOST_LISTS.find((name) => part.startsWith(`${name}=`));
    const hosts = part
      .slice(part.indexOf('=') + 1)
      .split(',')
      .filter((host) => host !== '');
    if (list === undefined || hosts.length === 0)
      throw new InvalidArgumentError('Use allow=registry.example,*.example.org, deny=HOST,… or ask.');
    rules[list] = [...rules[list], ...hosts];
  }
  return rules;
}

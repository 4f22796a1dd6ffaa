import { appendFileSync } from 'node:fs';

/** How often something was tried, and how often the attacker got what it wanted: never, if all is well. */
export interface Count {
  readonly tries: number;
  readonly successes: number;
}

/** Tells the runner, where there is one. */
export function tally(attack: string, count: Count): void {
  const file = process.env.EXECWIRE_ATTACK_TALLY;
  if (file) appendFileSync(file, `${JSON.stringify({ attack, ...count })}\n`);
}

/** Whether somebody asked for the long form, in which nothing is left out. */
export const isLong = process.env.EXECWIRE_ATTACK_TRIES !== undefined;

/** How often to try: what a test says by itself, or what whoever runs it asks for. */
export function tries(usual: number): number {
  const asked = Number(process.env.EXECWIRE_ATTACK_TRIES);
  return Number.isInteger(asked) && asked > 0 ? asked : usual;
}

/** How long a test may take: what it says by itself, and in the long form as long as it needs. */
export function limitMs(usual: number): number {
  return isLong ? 0 : usual;
}

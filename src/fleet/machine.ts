import { createHash } from 'node:crypto';
import { z } from 'zod';

/** Whether a machine takes work: `cordoned` ones only by name, `draining` ones nothing new. */
export const MachineState = z.enum(['ready', 'cordoned', 'draining']);
export type MachineState = z.output<typeof MachineState>;

/** Whoever is older began at no date. */
const MAX_AGE_MS = 8.64e15;

/** A time in milliseconds, or in microseconds, that is a date. */
const Time = z.number().int().nonnegative();

/** What is known of a machine: mostly what it says about itself. */
export const Machine = z.object({
  name: z.string(),
  /** Which of its runs this is. About the time at which it joined, in microseconds, if its clock was right. */
  epoch: Time,
  labels: z.record(z.string(), z.string()),
  version: z.string(),
  state: MachineState,
  /** Processors, and how many programs want one on average. */
  cores: z.number(),
  load: z.number(),
  sessions: z.number(),
  processes: z.number(),
  /** How many jobs it runs, and at most. Absent: it takes none. */
  jobs: z.object({ running: z.number(), slots: z.number() }).optional(),
  /** How well programs can be confined there. */
  sandbox: z.string(),
  /** When it said this, in milliseconds, by the clock of whoever holds this description. */
  seenAt: Time,
  /** How long it had been in the fleet by then. */
  upMs: z.number().min(0).max(MAX_AGE_MS).optional(),
});
export type Machine = z.output<typeof Machine>;

/** What a machine says about the programs on it. */
export type MachineUsage = Pick<Machine, 'sessions' | 'processes'>;

/** What a machine has said so long ago. Its clock may be wrong, so the time is told by ours. */
export function asHeard(machine: Machine, agoMs = 0): Machine {
  // An older version does not say how long it has been there; its two times are by one clock at least.
  const { seenAt, epoch, upMs = Math.max(0, seenAt - epoch / 1000) } = machine;
  return { ...machine, upMs: Math.round(upMs), seenAt: Math.round(Date.now() - agoMs) };
}

/** The least loaded of some machines; undefined if there is none. */
export function leastLoaded(machines: readonly Machine[]): Machine | undefined {
  const busyness = ({ load, processes, cores }: Machine): number => (load + processes) / Math.max(1, cores);
  // Several clients that ask at once should not all choose the same of several idle machines.
  const ranked = machines.map((machine) => ({ machine, busy: busyness(machine), luck: Math.random() }));
  ranked.sort((a, b) => a.busy - b.busy || a.luck - b.luck);
  return ranked[0]?.machine;
}

/** The machine that a text leads to. If others come or go, most texts still lead where they did. */
export function preferred(machines: readonly Machine[], text: string): Machine | undefined {
  const rank = ({ name }: Machine): string => createHash('sha256').update(`${text} ${name}`).digest('hex');
  const ranked = machines.map((machine) => ({ machine, rank: rank(machine) }));
  return ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1))[0]?.machine;
}

import { readFileSync } from 'node:fs';

/** Limits by the kernel's name: the letter of `ulimit`, and how many kernel units make one of its units. */
const LIMITS: Readonly<Record<string, readonly [letter: string, unit: number]>> = {
  'Max cpu time': ['t', 1],
  'Max file size': ['f', 1024],
  'Max data size': ['d', 1024],
  'Max stack size': ['s', 1024],
  'Max core file size': ['c', 1024],
  'Max resident set': ['m', 1024],
  'Max processes': ['u', 1],
  'Max open files': ['n', 1],
  'Max locked memory': ['l', 1024],
  'Max address space': ['v', 1024],
  'Max file locks': ['x', 1],
  'Max pending signals': ['i', 1],
  'Max msgqueue size': ['q', 1],
  'Max nice priority': ['e', 1],
  'Max realtime priority': ['r', 1],
};

type Limit = readonly [soft: string, hard: string];

/** The commands that turn our limits into those a profile set. Null if one cannot be expressed. */
export function limitCommands(wanted: string, own: string = ownLimits()): string | null {
  const commands: string[] = [];
  const before = readLimits(own);
  for (const [name, [soft, hard]] of readLimits(wanted)) {
    const known = LIMITS[name];
    const [softBefore, hardBefore] = before.get(name) ?? [];
    // Other limits are not for profiles: one of them marks the processes of a tree.
    if (known === undefined || (soft === softBefore && hard === hardBefore)) continue;
    const [letter, unit] = known;
    const values = [soft, hard].map((value) => (value === 'unlimited' ? value : Number(value) / unit));
    if (values.some((value) => typeof value === 'number' && !Number.isInteger(value))) return null;
    commands.push(`ulimit -S${letter} ${values[0]}; ulimit -H${letter} ${values[1]}`);
  }
  return commands.join('\n');
}

/** The limits a shell can set, in a comparable form. */
export function settableLimits(text: string): string {
  return JSON.stringify([...readLimits(text)].filter(([name]) => name in LIMITS));
}

/** Lines of /proc/PID/limits by name. */
function readLimits(text: string): Map<string, Limit> {
  const rows = text.split('\n').map((line) => /^(.*?) {2,}(\S+) +(\S+)/.exec(line));
  return new Map(rows.flatMap((row) => (row?.[1] && row[2] && row[3] ? [[row[1], [row[2], row[3]]]] : [])));
}

function ownLimits(): string {
  return readFileSync('/proc/self/limits', 'utf8');
}

import type { Msg } from '@nats-io/transport-node';
import type { Bus } from './bus/bus.js';
import { isLater } from './age.js';
import { asHeard, Machine } from './machine.js';

/**
 * How long to wait for the first answer, and after the latest one. Counted in ticks, because a busy process reads what has
 * arrived between two of them.
 */
const TICK_MS = 50;
const FIRST_ANSWER_TICKS = 20;
const QUIET_TICKS = 5;
/** The same, once everybody who was expected has answered. */
const COMPLETE_TICKS = 1;
/** Machines in one answer to `list`. */
const MAX_MACHINES = 20_000;

export interface RollCall {
  readonly subjects: readonly string[];
  readonly reply: string;
  /** Where all answers arrive, and where that of one machine does. */
  readonly inbox: string;
  readonly answerOf: (machine: string) => string;
  /** The names of those who should answer, undefined if nobody knows. Others may, too. */
  readonly expected: Promise<readonly string[] | undefined>;
}

/** Asks machines to describe themselves, until none has answered for a while: not for long if nobody is missing. */
export function callRoll(
  bus: Bus,
  { subjects, reply, inbox, answerOf, expected }: RollCall,
): Promise<Machine[]> {
  return new Promise((resolve) => {
    const machines = new Map<string, Machine>();
    let unanswered = 0;
    let missing: Set<string> | undefined;
    void expected.then((names) => {
      missing = names && new Set(names.filter((name) => !machines.has(name)));
      if (missing?.size === 0 && machines.size > 0) ticksLeft = Math.min(ticksLeft, COMPLETE_TICKS);
    });
    const finish = (): void => {
      clearInterval(timer);
      stop();
      resolve([...machines.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));
    };
    let ticksLeft = FIRST_ANSWER_TICKS;
    const timer = setInterval(() => {
      ticksLeft -= 1;
      if (ticksLeft <= 0) finish();
    }, TICK_MS);
    const answered = (message: Msg): void => {
      if (message.headers?.code === 503) unanswered += 1;
      if (unanswered === subjects.length) return finish();
      const machine = machineOf(message);
      // The NATS server vouches for the name in the subject.
      if (!machine || message.subject !== answerOf(machine.name)) return;
      // Of two with the same name, the later one is meant.
      const other = machines.get(machine.name);
      if (!other || isLater(machine, other)) machines.set(machine.name, machine);
      if (machines.size >= MAX_MACHINES) return finish();
      missing?.delete(machine.name);
      ticksLeft = missing?.size === 0 ? COMPLETE_TICKS : QUIET_TICKS;
    };
    const stop = bus.listen(inbox, answered, finish);
    for (const subject of subjects) bus.post(subject, new Uint8Array(0), { reply });
  });
}

/** Null if it is not a description: nobody has to believe what a machine sends. */
function machineOf(message: Pick<Msg, 'json'>): Machine | null {
  try {
    const parsed = Machine.safeParse(message.json());
    return parsed.success ? asHeard(parsed.data) : null;
  } catch {
    return null;
  }
}

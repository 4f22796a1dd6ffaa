import type { Msg } from '@nats-io/transport-node';
import type { Bus } from './bus/bus.js';
import { Machine } from './machine.js';

/**
 * How long to wait for the first answer, and after the latest one. Counted in ticks, because a busy process reads what has
 * arrived between two of them.
 */
const TICK_MS = 50;
const FIRST_ANSWER_TICKS = 20;
const QUIET_TICKS = 5;
/** Machines in one answer to `list`. */
const MAX_MACHINES = 20_000;

/** Asks machines to describe themselves, until none has answered for a while. */
export function callRoll(
  bus: Bus,
  { subjects, reply, inbox }: { subjects: readonly string[]; reply: string; inbox: string },
): Promise<Machine[]> {
  return new Promise((resolve) => {
    const machines = new Map<string, Machine>();
    let unanswered = 0;
    const finish = (): void => {
      clearInterval(timer);
      subscription.unsubscribe();
      resolve([...machines.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));
    };
    let ticksLeft = FIRST_ANSWER_TICKS;
    const timer = setInterval(() => {
      ticksLeft -= 1;
      if (ticksLeft <= 0) finish();
    }, TICK_MS);
    const subscription = bus.nats.subscribe(inbox, {
      callback: (error, message) => {
        if (!error && message.headers?.code === 503) unanswered += 1;
        if (error || unanswered === subjects.length) return finish();
        const machine = machineOf(message);
        if (!machine) return;
        // Of two with the same name, the later one is meant.
        if ((machines.get(machine.name)?.epoch ?? 0) <= machine.epoch) machines.set(machine.name, machine);
        if (machines.size >= MAX_MACHINES) return finish();
        ticksLeft = QUIET_TICKS;
      },
    });
    for (const subject of subjects) bus.post(subject, new Uint8Array(0), { reply });
  });
}

/** Null if it is not a description: nobody has to believe what a machine sends. */
function machineOf(message: Pick<Msg, 'json'>): Machine | null {
  try {
    const parsed = Machine.safeParse(message.json());
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

import { randomBytes } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import { z } from 'zod';
import { jsonOf } from './answers.js';
import type { Bus } from './bus/bus.js';
import { ANY, answerTo, EVERYBODY, type Subjects } from './subjects.js';

/** How long to wait for the first gateway, and after the latest answer. */
const FIRST_ANSWER_MS = 1_000;
const QUIET_MS = 250;
/** Machines in one message, so that it stays far below what NATS passes on, and in one list. */
const MACHINES_PER_MESSAGE = 200;
const MAX_MACHINES = 20_000;
const MAX_ID_CHARS = 256;
const MAX_URL_CHARS = 2_048;
/** Nothing has been there for longer. */
const MAX_AGE_MS = 8.64e15;
/** Status of a message that the NATS server itself sends if nobody is subscribed. */
const NO_RESPONDERS = 503;

const Reported = z.object({
  id: z.string().max(MAX_ID_CHARS),
  state: z.enum(['connected', 'away']),
  clients: z.number().int().nonnegative(),
  sinceMs: z.number().min(0).max(MAX_AGE_MS),
  url: z.string().max(MAX_URL_CHARS).optional(),
});
const Report = z.object({ machines: z.array(Reported).max(MACHINES_PER_MESSAGE) });

/** What a gateway tells of a machine that its registry knows. */
export type ReportedMachine = z.output<typeof Reported>;

/** A machine that has dialled the registry of a gateway. It is no member of the fleet: clients reach it through that registry. */
export interface RemoteMachine {
  /** Its environment id. */
  readonly id: string;
  /** The gateway that knows it, by its name in the fleet. */
  readonly gateway: string;
  /** `away`: it has registered, and its connection is gone. It is forgotten two minutes later. */
  readonly state: 'connected' | 'away';
  /** How many clients use it. */
  readonly clients: number;
  /** For how long it has been in this state. */
  readonly sinceMs: number;
  /** What selectors go by: `remote`, and the gateway. */
  readonly labels: Readonly<Record<string, string>>;
  /** Its address for clients, if the gateway knows its own. */
  readonly url?: string | undefined;
}

/** Tells clients of a fleet about the machines of a registry. `failed`: our credentials do not allow that. */
export function announceRemotes(
  bus: Bus,
  subjects: Subjects,
  { name, list, failed }: { name: string; list: () => readonly ReportedMachine[]; failed: () => void },
): void {
  const asked = ({ reply }: Msg): void => {
    const to = answerTo(reply, subjects, { machine: name });
    if (to === undefined) return;
    const all = list().slice(0, MAX_MACHINES);
    // An empty list is an answer, too.
    for (let from = 0; from === 0 || from < all.length; from += MACHINES_PER_MESSAGE) {
      const machines = all.slice(from, from + MACHINES_PER_MESSAGE);
      bus.post(to, Buffer.from(JSON.stringify({ machines })));
    }
  };
  bus.listen(subjects.remotes, asked, failed);
}

/** Asks all gateways for the machines of their registries. Resolves to none at once if there is no gateway. */
export async function listRemotes(bus: Bus, subjects: Subjects, client: string): Promise<RemoteMachine[]> {
  const token = randomBytes(8).toString('hex');
  const found: RemoteMachine[] = [];
  await new Promise<void>((resolve) => {
    let timer = setTimeout(() => finish(), FIRST_ANSWER_MS);
    const stop = bus.listen(
      subjects.answer(ANY, client, token),
      (message) => {
        const report =
          message.headers?.code === NO_RESPONDERS ? null : Report.safeParse(jsonOf(message)).data;
        if (report === undefined) return;
        clearTimeout(timer);
        timer = setTimeout(finish, QUIET_MS);
        if (report === null) return finish();
        // The NATS server vouches for the name in the subject.
        const [gateway = ''] = message.subject.split('.').slice(-3);
        found.push(
          ...report.machines.map((machine) => ({ ...machine, gateway, labels: { remote: '', gateway } })),
        );
        if (found.length >= MAX_MACHINES) finish();
      },
      () => finish(),
    );
    const finish = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    bus.post(subjects.remotes, new Uint8Array(0), { reply: subjects.answer(EVERYBODY, client, token) });
    // Credentials from before there were such machines do not allow the question.
    void bus.flush().then(async () => {
      if (await bus.isRefused(subjects.remotes)) finish();
    });
  });
  return found.sort((a, b) => (`${a.id} ${a.gateway}` < `${b.id} ${b.gateway}` ? -1 : 1));
}

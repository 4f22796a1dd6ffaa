import { ExecError } from '../protocol/errors.js';

/**
 * The subjects of a fleet. Permissions are granted by subject, and the NATS server enforces them: a machine answers under
 * its own name only, and a client cannot pretend to be another one.
 */
export interface Subjects {
  /** A client asks a machine for a channel. */
  open(machine: string, client: string): string;
  /** From a client to a machine, and back: `CONNECTION.CHANNEL` follows. */
  toMachine(machine: string, client: string, channel: string): string;
  toClient(machine: string, client: string, channel: string): string;
  /** Asks all machines, or one, to describe themselves. */
  readonly who: string;
  whoIs(machine: string): string;
  /** Asks all gateways for the machines of their registries. */
  readonly remotes: string;
  /** A machine, or a gateway, answers a client. It may not answer anywhere else, wherever a request would like the answer to go. */
  answer(machine: string, client: string, token: string): string;
  /** A machine tells everybody that it has joined, changed or left. */
  news(machine: string): string;
  /** An administrator changes the state of a machine. */
  control(machine: string, client: string): string;
}

/** Matches any one name. */
export const ANY = '*';
/** Matches any `CONNECTION.CHANNEL`. */
export const ANY_CHANNEL = '*.*';

export function subjectsOf(fleet: string): Subjects {
  const root = `ew.${fleet}`;
  return {
    open: (machine, client) => `${root}.open.${machine}.${client}`,
    toMachine: (machine, client, channel) => `${root}.i.${machine}.${client}.${channel}`,
    toClient: (machine, client, channel) => `${root}.o.${machine}.${client}.${channel}`,
    who: `${root}.who`,
    remotes: `${root}.remotes`,
    whoIs: (machine) => `${root}.whois.${machine}`,
    answer: (machine, client, token) => `${root}.a.${machine}.${client}.${token}`,
    news: (machine) => `${root}.news.${machine}`,
    control: (machine, client) => `${root}.control.${machine}.${client}`,
  };
}

/** In the subject for answers, instead of the name of a machine: each puts its own there. No machine has this name. */
export const EVERYBODY = '~all';

/** Where a machine answers a request; undefined if the request does not come from that client, or from any. */
export function answerTo(
  reply: string | undefined,
  subjects: Subjects,
  { machine, client: asking }: { machine: string; client?: string },
): string | undefined {
  const [client = '', token = ''] = reply?.split('.').slice(-2) ?? [];
  if (!NAME.test(client) || !NAME.test(token) || (asking !== undefined && client !== asking))
    return undefined;
  const own = subjects.answer(machine, client, token);
  return reply === own || reply === subjects.answer(EVERYBODY, client, token) ? own : undefined;
}

/** The client that asks. The NATS server vouches for its name in the subject. */
export function clientOf({ subject }: { readonly subject: string }): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

/** What JetStream replies to us arrives here, where nobody else may listen. */
export function inboxOf(identity: string): string {
  return `_INBOX_${identity}`;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Checks a name that becomes part of a subject. */
export function requireName(name: string, what: string): string {
  if (NAME.test(name)) return name;
  throw new ExecError(
    'invalidConfiguration',
    `${what} must be 1 to 64 letters, digits, "-" or "_", not "${name.slice(0, 80)}".`,
  );
}

/** Makes a name of any text, such as a host name. */
export function nameFrom(text: string): string {
  return (
    text
      .split('.', 1)[0]
      ?.replace(/[^A-Za-z0-9_-]+/g, '-')
      .slice(0, 64) || 'machine'
  );
}

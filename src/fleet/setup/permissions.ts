import { ANY, inboxOf, subjectsOf } from '../subjects.js';

/** What somebody is in a fleet. */
export type Role = 'machine' | 'client' | 'admin';

/** Somebody with credentials. */
export interface Member {
  readonly name: string;
  readonly role: Role;
  /** client: the machines it may reach. Default: all. */
  readonly machines?: readonly string[] | undefined;
}

/** The subjects somebody may use. */
export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** Whether it may answer requests, wherever the answer goes. */
  readonly answers: boolean;
}

/** Any connection and channel. */
const EVERYTHING_BELOW = '>';

/**
 * What each role may do, enforced by the NATS servers: a machine speaks and listens under its own name only; a client reaches
 * the machines it is meant to, under its own name; nobody reads what is meant for somebody else.
 */
export function permissionsOf(fleet: string, { name, role, machines }: Member): Permissions {
  const subjects = subjectsOf(fleet);
  const inbox = `${inboxOf(name)}.>`;
  if (role === 'machine')
    return {
      publish: [subjects.toClient(name, ANY, EVERYTHING_BELOW), subjects.news(name), subjects.whoIs(name)],
      subscribe: [
        subjects.toMachine(name, ANY, EVERYTHING_BELOW),
        subjects.open(name, ANY),
        subjects.who,
        subjects.whoIs(name),
        subjects.control(name, ANY),
        inbox,
      ],
      answers: true,
    };
  const reach = machines ?? [ANY];
  return {
    publish: [
      ...reach.map((machine) => subjects.open(machine, name)),
      ...reach.map((machine) => subjects.toMachine(machine, name, EVERYTHING_BELOW)),
      ...reach.map((machine) => subjects.whoIs(machine)),
      // Whoever may reach some machines only is not told about the others.
      ...(machines ? [] : [subjects.who]),
      ...(role === 'admin' ? [subjects.control(ANY, name)] : []),
    ],
    subscribe: [
      ...reach.map((machine) => subjects.toClient(machine, name, EVERYTHING_BELOW)),
      ...reach.map((machine) => subjects.news(machine)),
      inbox,
    ],
    answers: false,
  };
}

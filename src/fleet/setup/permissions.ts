import { ANY_MACHINE, CLIENT, jobSubjects } from '../jobs/job-subjects.js';
import { registrySubject, streamsOf } from '../store/index.js';
import { ANY, inboxOf, subjectsOf } from '../subjects.js';

/** What somebody is in a fleet. */
export type Role = 'machine' | 'client' | 'admin' | 'gateway';

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
}

/** Any connection and channel. */
const EVERYTHING_BELOW = '>';

/**
 * What each role may do, enforced by the NATS servers: a machine speaks and listens under its own name only; a client reaches
 * the machines it is meant to, under its own name; a gateway also tells which machines its registry knows; nobody reads what is meant
 * for somebody else.
 */
export function permissionsOf(fleet: string, { name, role, machines }: Member): Permissions {
  const subjects = subjectsOf(fleet);
  const inbox = `${inboxOf(name)}.>`;
  if (role === 'machine')
    return {
      publish: [
        subjects.toClient(name, ANY, EVERYTHING_BELOW),
        subjects.answer(name, ANY, ANY),
        subjects.news(name),
        subjects.whoIs(name),
        ...jobsOfMachine(fleet, name),
      ],
      subscribe: [
        subjects.toMachine(name, ANY, EVERYTHING_BELOW),
        subjects.open(name, ANY),
        subjects.who,
        subjects.whoIs(name),
        subjects.control(name, ANY),
        subjects.answer(name, name, ANY),
        inbox,
      ],
    };
  const reach = machines ?? [ANY];
  return {
    publish: [
      ...reach.map((machine) => subjects.open(machine, name)),
      ...reach.map((machine) => subjects.toMachine(machine, name, EVERYTHING_BELOW)),
      ...reach.map((machine) => subjects.whoIs(machine)),
      // Whoever may reach some machines only is not told about the others.
      ...(machines ? [] : [subjects.who, subjects.remotes]),
      ...(role === 'gateway' ? [subjects.answer(name, ANY, ANY)] : []),
      ...(role === 'admin' ? [subjects.control(ANY, name), ...streamCreation(fleet)] : []),
      ...jobsOfClient(fleet, { name, role, machines }),
    ],
    subscribe: [
      ...reach.map((machine) => subjects.toClient(machine, name, EVERYTHING_BELOW)),
      ...reach.map((machine) => subjects.news(machine)),
      subjects.answer(ANY, name, ANY),
      ...(role === 'gateway' ? [subjects.remotes] : []),
      inbox,
    ],
  };
}

/** A machine enters itself into the registry, takes jobs, and tells how they went. */
function jobsOfMachine(fleet: string, name: string): string[] {
  const { machines, jobs } = streamsOf(fleet);
  const subjects = jobSubjects(fleet);
  return [
    registrySubject(fleet, name),
    `$JS.API.STREAM.INFO.${machines}`,
    subjects.log(ANY, ANY, ANY, name),
    subjects.lease(ANY, ANY),
    subjects.duty,
    subjects.end(name, ANY, ANY, ANY),
    subjects.output(name, ANY, ANY, ANY),
    ...reading(jobs, {
      lists: [
        subjects.spec(ANY_MACHINE, ANY, ANY),
        subjects.spec(name, ANY, ANY),
        subjects.log(ANY, ANY, ANY, ANY),
      ],
      gets: [subjects.lease(ANY, ANY), subjects.end(ANY, ANY, ANY, ANY), subjects.duty],
    }),
  ];
}

/** A client submits jobs in its name, for machines it may reach, and sees its own. An administrator sees and ends all. */
function jobsOfClient(fleet: string, { name, role, machines }: Member): string[] {
  const streams = streamsOf(fleet);
  const subjects = jobSubjects(fleet);
  const whose = role === 'admin' ? ANY : name;
  const targets = machines ?? [ANY];
  const registry = targets.map((machine) => registrySubject(fleet, machine));
  return [
    ...targets.map((target) => subjects.spec(target, name, ANY)),
    subjects.log(whose, ANY, ANY, CLIENT),
    subjects.lease(whose, ANY),
    ...reading(streams.jobs, {
      lists: [subjects.spec(ANY, whose, ANY), subjects.log(whose, ANY, ANY, ANY)],
      gets: [subjects.spec(ANY, whose, ANY), subjects.lease(whose, ANY), subjects.end(ANY, whose, ANY, ANY)],
    }),
    ...reading(streams.output, { lists: [subjects.output(ANY, whose, ANY, ANY)], gets: [] }),
    ...reading(streams.machines, {
      lists: machines ? [] : [registrySubject(fleet, EVERYTHING_BELOW)],
      gets: registry,
    }),
  ];
}

/** NATS enforces what may be read from a stream by the subjects in these requests. */
function reading(
  stream: string,
  { lists, gets }: { lists: readonly string[]; gets: readonly string[] },
): string[] {
  return [
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.CONSUMER.DELETE.${stream}.*`,
    `$JS.FC.${stream}.>`,
    ...lists.map((filter) => `$JS.API.CONSUMER.CREATE.${stream}.*.${filter}`),
    ...gets.map((subject) => `$JS.API.DIRECT.GET.${stream}.${subject}`),
  ];
}

function streamCreation(fleet: string): string[] {
  return Object.values(streamsOf(fleet)).map((stream) => `$JS.API.STREAM.CREATE.${stream}`);
}

/**
 * Instead of the name of a machine, in the subject of a job: any that its selector matches. No machine has this name. NATS
 * itself uses "@" and "+" between its nodes.
 */
export const ANY_MACHINE = '~any';
/** Instead of the name of a machine, in the log of a job: its client, or an administrator. */
export const CLIENT = '~client';

/** Names a job. */
export interface JobKey {
  /** The client that submitted it. */
  readonly client: string;
  readonly id: string;
}

/**
 * The subjects of jobs. Each name in them is enforced by the NATS server: only a client submits jobs in its name, and only a
 * machine says how a program ended there, and what it printed.
 */
export interface JobSubjects {
  /** What to run. `target`: the only machine that may, or `ANY_MACHINE`. Written once, by the client. */
  spec(target: string, client: string, id: string): string;
  /** A proposed step of a job: by a machine, or by `CLIENT`. None: it is queued. */
  log(client: string, id: string, step: string, author: string): string;
  /** Renewed by the machine that runs it. Anyone who finds it unchanged for too long breaks it. */
  lease(client: string, id: string): string;
  /** How an attempt ended, as the machine saw it. */
  end(machine: string, client: string, id: string, attempt: string): string;
  /** The machine that looks after the jobs of all machines at the moment. */
  readonly duty: string;
  /** All of the above. */
  readonly everything: string;
  output(machine: string, client: string, id: string, attempt: string): string;
}

export function jobSubjects(fleet: string): JobSubjects {
  const root = `ew.${fleet}.job`;
  return {
    spec: (target, client, id) => `${root}.spec.${target}.${client}.${id}`,
    log: (client, id, step, author) => `${root}.log.${client}.${id}.${step}.${author}`,
    lease: (client, id) => `${root}.lease.${client}.${id}`,
    end: (machine, client, id, attempt) => `${root}.end.${machine}.${client}.${id}.${attempt}`,
    duty: `${root}.duty`,
    everything: `${root}.>`,
    output: (machine, client, id, attempt) => `ew.${fleet}.output.${machine}.${client}.${id}.${attempt}`,
  };
}

/** What the subject of a step says. */
export function stepOf(subject: string): { key: JobKey; step: number; author: string } {
  const [client = '', id = '', step = '', author = ''] = subject.split('.').slice(-4);
  return { key: { client, id }, step: Number(step), author };
}

/** The job that the subject of a spec belongs to. */
export function keyOf(subject: string): JobKey {
  const [client = '', id = ''] = subject.split('.').slice(-2);
  return { client, id };
}

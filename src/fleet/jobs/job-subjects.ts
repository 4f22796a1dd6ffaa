/**
 * Instead of the name of a machine, in the subject of a job: any that its selector matches. No machine has this name. NATS
 * itself uses "@" and "+" between its nodes.
 */
export const ANY_MACHINE = '~any';

/** Names a job. */
export interface JobKey {
  /** Who has submitted it. */
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
  /** Where the job stands. Changed by whoever knows its last revision. None: it is queued. */
  state(client: string, id: string): string;
  /** Renewed by the machine that runs it. Whoever finds it unchanged for long breaks it. */
  lease(client: string, id: string): string;
  /** How it ended, as the machine saw it. */
  end(machine: string, client: string, id: string): string;
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
    state: (client, id) => `${root}.state.${client}.${id}`,
    lease: (client, id) => `${root}.lease.${client}.${id}`,
    end: (machine, client, id) => `${root}.end.${machine}.${client}.${id}`,
    duty: `${root}.duty`,
    everything: `${root}.>`,
    output: (machine, client, id, attempt) => `ew.${fleet}.output.${machine}.${client}.${id}.${attempt}`,
  };
}

/** The job that the subject of a spec or a state belongs to. */
export function keyOf(subject: string): JobKey {
  const [client = '', id = ''] = subject.split('.').slice(-2);
  return { client, id };
}

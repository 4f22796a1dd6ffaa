import { arch, availableParallelism, loadavg, platform } from 'node:os';
import type { Msg } from '@nats-io/transport-node';
import { ExecError } from '../protocol/errors.js';
import { stopwatch } from './age.js';
import { jsonOf } from './answers.js';
import { Bus } from './bus/bus.js';
import { DEFAULT_FLEET, type FleetSettings } from './bus/bus-settings.js';
import { ControlRequest, type MachineNews } from './control.js';
import { DEFAULT_JOB_LEASE_MS, JobRunner } from './jobs/job-runner.js';
import type { JoinOptions } from './join-options.js';
import type { Machine, MachineState } from './machine.js';
import { MemberChannels } from './member-channels.js';
import { NameGuard } from './name-guard.js';
import { RegistryEntry } from './registry.js';
import { createStreams, noJetStream } from './store/index.js';
import { ANY, answerTo, clientOf, requireName, type Subjects, subjectsOf } from './subjects.js';

/** This machine as a member of a fleet. It dials out; nobody connects to it. */
export class FleetMember implements AsyncDisposable {
  readonly name: string;
  readonly #bus: Bus;
  readonly #options: JoinOptions;
  readonly #subjects: Subjects;
  readonly #guard: NameGuard;
  readonly #entry: RegistryEntry;
  readonly #fleet: string;
  /** Tells this run from all others of the same name. It is about when it began, in microseconds, but clocks may be wrong. */
  readonly #epoch = Date.now() * 1000 + (Math.floor(performance.now() * 1000) % 1000);
  readonly #upMs = stopwatch();
  #isMember = false;
  #jobs: JobRunner | undefined;
  #state: MachineState = 'ready';
  #closing: Promise<void> | undefined;

  private constructor(bus: Bus, settings: FleetSettings, options: JoinOptions) {
    const { fleet = DEFAULT_FLEET } = settings;
    this.name = options.name;
    this.#bus = bus;
    this.#options = options;
    this.#subjects = subjectsOf(fleet);
    this.#fleet = fleet;
    this.#entry = new RegistryEntry({
      bus,
      fleet,
      describe: () => this.describe(),
      overtaken: () => this.#guard.overtaken(),
      log: options.log,
    });
    this.#guard = new NameGuard({
      bus,
      name: this.name,
      epoch: this.#epoch,
      upMs: this.#upMs,
      subjects: this.#subjects,
      confirm: () => this.#entry.confirm(),
      taken: () => this.#giveWay(),
    });
  }

  /** Joins a fleet. Resolves when clients can reach this machine; fails if the name is taken. */
  static async join(settings: FleetSettings, options: JoinOptions): Promise<FleetMember> {
    requireName(options.name, 'The name of a machine');
    const bus = await Bus.connect(settings, `execwire machine ${options.name}`, { yields: true });
    try {
      if (!options.insecure) requireProtected(bus);
      const member = new FleetMember(bus, settings, options);
      await member.#join();
      return member;
    } catch (error) {
      await bus.close('the machine could not join');
      throw error;
    }
  }

  /** What clients see of this machine. */
  describe(): Machine {
    const { labels = {}, version = '', sandbox = 'unknown', server, jobSlots = 0 } = this.#options;
    return {
      name: this.name,
      epoch: this.#epoch,
      labels: { os: platform(), arch: arch(), ...labels },
      version,
      sandbox,
      state: this.#state,
      cores: availableParallelism(),
      load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
      ...server.usage(),
      ...(jobSlots > 0 ? { jobs: { running: this.#jobs?.running ?? 0, slots: jobSlots } } : {}),
      seenAt: Date.now(),
      upMs: this.#upMs(),
    };
  }

  /** Takes no more jobs, and ends those that run here. They may be repeated elsewhere, where that is allowed. */
  async endJobs(): Promise<void> {
    await this.#jobs?.close();
  }

  /** Leaves the fleet. Channels that are still open are lost. */
  close(): Promise<void> {
    this.#closing ??= this.#leave();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #join(): Promise<void> {
    const { bus, subjects } = { bus: this.#bus, subjects: this.#subjects };
    // From here on, others who want the name learn that it is taken, and only then do we ask ourselves.
    const machine = this.name;
    const to = ({ reply }: Msg): string | undefined => answerTo(reply, subjects, { machine });
    bus.answer(subjects.whoIs(machine), to, ({ reply }) => {
      this.#guard.asked(reply);
      return { ...this.describe(), isMember: this.#isMember };
    });
    await bus.flush();
    await this.#requireAccess();
    await this.#guard.claim();
    this.#isMember = true;
    this.#guard.watch();
    const { server } = this.#options;
    const isThere = (epoch: number): Promise<boolean> => this.#guard.isThere(epoch);
    new MemberChannels({ bus, subjects, name: this.name, epoch: this.#epoch, isThere, server }).listen();
    bus.answer(subjects.who, to, () => this.describe());
    bus.answer(
      subjects.control(machine, ANY),
      (message) => answerTo(message.reply, subjects, { machine, client: clientOf(message) }),
      (message) => this.#controlled(message),
    );
    bus.onLost(() => {
      if (!this.#closing) this.#options.onLost?.('the connection to the fleet was closed');
    });
    this.#tell('joined');
    await bus.flush();
    await this.#requireAccess();
    if (bus.nats.info?.jetstream) await this.#useJetStream();
    else if (this.#options.jobSlots) throw noJetStream();
  }

  /** Beyond sessions, which need none of it. */
  async #useJetStream(): Promise<void> {
    // Where nobody is asked for credentials, there is no administrator who would do it.
    if (this.#options.insecure)
      await createStreams(this.#bus, this.#fleet).catch((error: Error) =>
        this.#options.log?.warn({ reason: error.message }, 'the fleet has no registry and no jobs'),
      );
    await this.#entry.keep();
    const { jobSlots: slots = 0, jobLeaseMs: leaseMs = DEFAULT_JOB_LEASE_MS, server, log } = this.#options;
    if (slots === 0) return;
    const place = { bus: this.#bus, fleet: this.#fleet, describe: () => this.describe() };
    this.#jobs = await JobRunner.begin({ ...place, server, slots, leaseMs, log });
  }

  async #requireAccess(): Promise<void> {
    if (!(await this.#bus.isRefused())) return;
    throw new ExecError(
      'invalidConfiguration',
      `These credentials do not allow joining the fleet as "${this.name}".`,
    );
  }

  /** The answer says what is true from now on. */
  #controlled(message: Msg): Machine {
    const client = clientOf(message);
    const request = ControlRequest.safeParse(jsonOf(message));
    if (request.success && request.data.state !== this.#state) {
      this.#state = request.data.state;
      this.#options.server.isDraining = this.#state === 'draining';
      this.#options.log?.info({ client, state: this.#state }, 'the fleet changed the state of this machine');
      this.#tell('changed');
      this.#entry.renew();
      this.#jobs?.wake();
    }
    return this.describe();
  }

  #tell(type: MachineNews['type']): void {
    const news: MachineNews = { type, machine: this.describe() };
    this.#bus.post(this.#subjects.news(this.name), Buffer.from(JSON.stringify(news)));
  }

  async #leave(): Promise<void> {
    this.#guard.close();
    await this.endJobs();
    if (this.#isMember) this.#tell('left');
    // Of a machine that has given way, the entry belongs to another one by now.
    await this.#entry.close({ remove: this.#isMember });
    await this.#bus.close('the machine has left the fleet');
  }

  /** A later machine has our name: whatever we did from now on would be ambiguous. */
  #giveWay(): void {
    if (this.#closing) return;
    this.#options.log?.warn({ name: this.name }, 'another machine has taken this name in the fleet');
    this.#isMember = false;
    void this.close();
    this.#options.onLost?.('another machine has taken this name');
  }
}

/** Otherwise everybody who reaches the NATS servers could run programs here. */
function requireProtected({ nats }: Bus): void {
  if (nats.info?.auth_required) return;
  throw new ExecError(
    'invalidConfiguration',
    'These NATS servers do not require credentials, so anyone who can reach them could run programs on this machine. ' +
      'Set them up with `execwire fleet init`, or add --insecure.',
  );
}

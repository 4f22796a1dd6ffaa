import { randomBytes } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import { setTimeout as pause } from 'node:timers/promises';
import { ExecError } from '../protocol/errors.js';
import type { Channel } from '../rpc/index.js';
import { DEFAULT_CONNECT_TIMEOUT_MS } from '../transport/dial-target.js';
import { Bus, MAX_CHANNELS } from './bus/bus.js';
import { DEFAULT_IDENTITY, DEFAULT_FLEET, type FleetSettings } from './bus/bus-settings.js';
import { explained, granted, isNobody, noAccess, isPassing, jsonOf, noAnswer } from './answers.js';
import { AbsentMachine, REGISTERED_ASK_AGAIN_MS, REGISTERED_PATIENCE_MS } from './absent-machine.js';
import { chooseFrom, explainNoChoice } from './choose.js';
import { channelToken, type OpenRequest } from './open-protocol.js';
import { type FleetEvent, MachineNews } from './control.js';
import { ExpectedMachines } from './expected-machines.js';
import { watchFleet } from './fleet-watch.js';
import { Jobs } from './jobs/jobs.js';
import { asHeard, Machine, type MachineState } from './machine.js';
import { listRegistered } from './registry.js';
import { announceRemotes, listRemotes, type RemoteMachine, type ReportedMachine } from './remote-machines.js';
import { callRoll } from './roll-call.js';
import { matches, type Selector } from './selector.js';
import { ANY, EVERYBODY, requireName, type Subjects, subjectsOf } from './subjects.js';

/** How long a machine may take to answer before it is asked again: a NATS node may just have died. */
const ANSWER_TIMEOUT_MS = 1000;
const ASK_AGAIN_MS = 50;
/** How long a machine may take to describe itself. */
const ASK_TIMEOUT_MS = 5000;

/** A client's connection to a fleet. */
export class Fleet implements AsyncDisposable {
  readonly #bus: Bus;
  readonly #subjects: Subjects;
  readonly #identity: string;
  readonly #fleet: string;
  /** Tells our channels from those of others with the same identity. */
  readonly #connection = randomBytes(8).toString('hex');
  readonly #machines: readonly string[] | undefined;
  readonly #expected: ExpectedMachines;
  #opened = 0;

  private constructor(bus: Bus, settings: FleetSettings) {
    const { fleet = DEFAULT_FLEET, identity = DEFAULT_IDENTITY } = settings;
    this.#bus = bus;
    this.#subjects = subjectsOf(fleet);
    this.#identity = identity;
    this.#fleet = fleet;
    this.#machines = settings.machines;
    this.#expected = new ExpectedMachines(bus, fleet, settings.machines);
    for (const machine of this.#reachable)
      bus.carry(this.#subjects.toClient(machine, identity, `${this.#connection}.*`));
  }

  static async connect(settings: FleetSettings): Promise<Fleet> {
    const { identity = DEFAULT_IDENTITY } = settings;
    return new Fleet(await Bus.connect(settings, `execwire client ${identity}`), settings);
  }

  /** The machines that may speak to us. Asked for more, NATS would refuse all. */
  get #reachable(): readonly string[] {
    return this.#machines ?? [ANY];
  }

  /** False while no NATS server can be reached: then silence says nothing about machines. */
  get isConnected(): boolean {
    return this.#bus.isConnected;
  }

  /** True if nothing uses this connection. */
  get isIdle(): boolean {
    return this.#bus.channelCount === 0;
  }

  /**
   * Opens a channel to a machine. Fails at once if the registry knows no machine of that name. One that it knows may just be changing
   * to another NATS node, and is waited for, up to 5 seconds. Without a registry it is half a second.
   */
  async dial(
    machine: string,
    options: { connectTimeoutMs?: number; ended?: () => void } = {},
  ): Promise<Channel> {
    requireName(machine, 'The name of a machine');
    if (this.#bus.channelCount >= MAX_CHANNELS)
      throw new ExecError('overloaded', `A connection to a fleet carries at most ${MAX_CHANNELS} channels.`);
    const { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, ended } = options;
    this.#opened += 1;
    const request: OpenRequest = {
      connection: this.#connection,
      channel: this.#opened.toString(36),
      credit: this.#bus.shares.first,
    };
    const { epoch, credit } = await this.#request(machine, request, connectTimeoutMs);
    const token = channelToken(request, epoch);
    return this.#bus.openChannel({
      from: this.#subjects.toClient(machine, this.#identity, token),
      to: this.#subjects.toMachine(machine, this.#identity, token),
      label: `fleet:${machine}`,
      credit,
      granted: request.credit,
      ...(ended ? { ended } : {}),
    });
  }

  /** The machines that answer right now, by name. */
  async list(selector?: Selector): Promise<Machine[]> {
    const token = randomBytes(8).toString('hex');
    const subjects = this.#machines?.map((name) => this.#subjects.whoIs(name)) ?? [this.#subjects.who];
    const reply = this.#subjects.answer(EVERYBODY, this.#identity, token);
    const answerOf = (machine: string): string => this.#subjects.answer(machine, this.#identity, token);
    const expected = this.#expected.names();
    const machines = await callRoll(this.#bus, { subjects, reply, inbox: answerOf(ANY), answerOf, expected });
    return selector ? machines.filter((machine) => matches(selector, machine)) : machines;
  }

  /**
   * The machines in the registry, by name: what each of them has said in the last 10 seconds. Faster than `list` for many
   * machines, but one that died is there for up to 30 seconds. Needs JetStream.
   */
  async listRegistered(selector?: Selector): Promise<Machine[]> {
    const machines = await listRegistered(this.#bus, this.#fleet, {
      machines: this.#machines,
      identity: this.#identity,
    });
    return selector ? machines.filter((machine) => matches(selector, machine)) : machines;
  }

  /** The machines that have dialled the registries of gateways, such as `codex exec-server --remote`. Gateways answer for them. */
  async listRemote(selector?: Selector): Promise<RemoteMachine[]> {
    // Whoever may reach some machines only is not told about others.
    if (this.#machines) return [];
    const found = await listRemotes(this.#bus, this.#subjects, this.#identity);
    if (!selector) return found;
    return found.filter((machine) => matches(selector, { name: machine.id, labels: machine.labels }));
  }

  /**
   * Tells clients about the machines of a registry. `failed`: our credentials do not allow that.
   *
   * @internal
   */
  announceRemote(list: () => readonly ReportedMachine[], failed: () => void): void {
    announceRemotes(this.#bus, this.#subjects, { name: this.#identity, list, failed });
  }

  /** What a machine says about itself right now. */
  async describe(machine: string): Promise<Machine> {
    return await this.#ask(this.#subjects.whoIs(requireName(machine, 'The name of a machine')), machine, {});
  }

  /** Changes whether a machine takes work. Resolves to what it says once that is in effect. */
  async setState(machine: string, state: MachineState): Promise<Machine> {
    requireName(machine, 'The name of a machine');
    return await this.#ask(this.#subjects.control(machine, this.#identity), machine, { state });
  }

  /** The jobs of the fleet. Needs JetStream. */
  async jobs(): Promise<Jobs> {
    const place = { bus: this.#bus, fleet: this.#fleet, identity: this.#identity, machines: this.#machines };
    return await Jobs.open({ ...place, list: () => this.list() });
  }

  /** Who joins, changes, leaves and is lost, beginning with those who are there. */
  watch(options: { signal?: AbortSignal } = {}): AsyncGenerator<FleetEvent> {
    return watchFleet({
      list: () => this.list(),
      onNews: (listener) => {
        const heard = (message: Msg): void => {
          const news = MachineNews.safeParse(jsonOf(message)).data;
          // The NATS server vouches for the name in the subject.
          if (news && message.subject === this.#subjects.news(news.machine.name))
            listener({ ...news, machine: asHeard(news.machine) });
        };
        const stops = this.#reachable.map((machine) => this.#bus.listen(this.#subjects.news(machine), heard));
        return () => {
          for (const stop of stops) stop();
        };
      },
      signal: options.signal,
    });
  }

  /**
   * Chooses the least loaded machine that matches and takes work. With `sticky`, the same text leads to the same machine as
   * long as that is possible, whoever asks. If the only ones do not answer, although the registry knows them, waits for them, up
   * to 5 seconds.
   */
  async choose(selector: Selector, { sticky }: { sticky?: string } = {}): Promise<Machine> {
    const deadline = performance.now() + REGISTERED_PATIENCE_MS;
    for (;;) {
      const machines = await this.list();
      const chosen = chooseFrom(machines, selector, sticky);
      if (chosen) return chosen;
      if (performance.now() > deadline || !(await this.#expectsMore(selector, machines)))
        throw new ExecError('notConnected', explainNoChoice(machines, selector));
      await pause(REGISTERED_ASK_AGAIN_MS);
    }
  }

  /** Whether the registry knows a machine that would do, and has not answered. */
  async #expectsMore(selector: Selector, machines: readonly Machine[]): Promise<boolean> {
    const registered = await this.listRegistered(selector).catch(() => []);
    const present = new Set(machines.map(({ name }) => name));
    return registered.some(({ name, state }) => state === 'ready' && !present.has(name));
  }

  async close(): Promise<void> {
    await this.#bus.close('the client was closed');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Only that machine may answer there, and only we may listen. */
  #answered(machine: string): { noMux: true; reply: string } {
    const token = randomBytes(8).toString('hex');
    return { noMux: true, reply: this.#subjects.answer(machine, this.#identity, token) };
  }

  async #ask(subject: string, machine: string, request: object): Promise<Machine> {
    const absent = this.#absent(machine);
    for (;;) {
      try {
        const answer = await this.#bus.nats.request(subject, JSON.stringify(request), {
          timeout: ASK_TIMEOUT_MS,
          ...this.#answered(machine),
        });
        const described = Machine.parse(answer.json());
        if (described.name === machine) return asHeard(described);
        throw new ExecError('notConnected', `"${machine}" describes another machine.`, { data: { machine } });
      } catch (error) {
        if (!isNobody(error)) throw explained(error, machine);
        if (!(await absent.wait())) throw absent.error();
      }
    }
  }

  /** Asks until there is an answer. The machine recognizes a request it has already granted. */
  async #request(
    machine: string,
    request: OpenRequest,
    timeoutMs: number,
  ): Promise<{ epoch: string; credit: number }> {
    const subject = this.#subjects.open(machine, this.#identity);
    const deadline = performance.now() + timeoutMs;
    const absent = this.#absent(machine);
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) throw noAnswer(machine, timeoutMs);
      try {
        const timeout = Math.min(left, ANSWER_TIMEOUT_MS);
        const options = { timeout, ...this.#answered(machine) };
        return granted(await this.#bus.nats.request(subject, JSON.stringify(request), options));
      } catch (error) {
        if (!isPassing(error) && !isNobody(error)) throw explained(error, machine);
        if (await this.#bus.isRefused(subject)) throw noAccess(machine);
        if (!isNobody(error)) await pause(ASK_AGAIN_MS);
        else if (!(await absent.wait())) throw absent.error();
      }
    }
  }

  #absent(machine: string): AbsentMachine {
    return new AbsentMachine({ bus: this.#bus, expected: this.#expected, machine });
  }
}

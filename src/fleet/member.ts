import { arch, availableParallelism, loadavg, platform } from 'node:os';
import type { Msg } from '@nats-io/transport-node';
import { ExecError } from '../protocol/errors.js';
import { Bus, MAX_CHANNELS } from './bus/bus.js';
import { DEFAULT_FLEET, type FleetSettings } from './bus/bus-settings.js';
import type { Machine, MachineUsage } from './machine.js';
import { channelToken, epochOf, type OpenAnswer, OpenRequest } from './open-protocol.js';
import { ANY, ANY_CHANNEL, requireName, type Subjects, subjectsOf } from './subjects.js';
import type { Channel } from '../rpc/index.js';

/** Serves the clients that reach this machine. `ExecServer` is one. */
export interface MachineServer {
  accept(channel: Channel, options: { principal: string; probe: () => void }): Promise<void>;
  usage(): MachineUsage;
  isDraining: boolean;
}

export interface MemberLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface JoinOptions {
  /** The name clients use. Unique in the fleet. */
  readonly name: string;
  /** For selectors. `os` and `arch` are added. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly server: MachineServer;
  readonly version?: string;
  /** How well programs can be confined here. */
  readonly sandbox?: string;
  /**
   * Join although the NATS servers ask nobody for credentials: whoever reaches them, a confined program included, can then
   * run anything here.
   */
  readonly insecure?: boolean;
  readonly log?: MemberLog;
  /** Called if the machine is no longer in the fleet, and why. */
  readonly onLost?: (reason: string) => void;
}

const silent: MemberLog = { info: () => undefined, warn: () => undefined };

/** This machine as a member of a fleet. It dials out; nobody connects to it. */
export class FleetMember implements AsyncDisposable {
  readonly name: string;
  readonly #bus: Bus;
  readonly #options: JoinOptions;
  readonly #subjects: Subjects;
  readonly #log: MemberLog;
  /** Tells this run from earlier and later ones of the same name: the later one wins. */
  readonly #epoch = Date.now();
  #closing: Promise<void> | undefined;

  private constructor(bus: Bus, settings: FleetSettings, options: JoinOptions) {
    this.name = options.name;
    this.#bus = bus;
    this.#options = options;
    this.#subjects = subjectsOf(settings.fleet ?? DEFAULT_FLEET);
    this.#log = options.log ?? silent;
  }

  /** Joins a fleet. Resolves when clients can reach this machine. */
  static async join(settings: FleetSettings, options: JoinOptions): Promise<FleetMember> {
    requireName(options.name, 'The name of a machine');
    const bus = await Bus.connect(settings, `execwire machine ${options.name}`);
    try {
      if (!options.insecure) requireProtected(bus);
      const member = new FleetMember(bus, settings, options);
      await member.#listen();
      return member;
    } catch (error) {
      await bus.close('the machine could not join');
      throw error;
    }
  }

  /** What clients see of this machine. */
  describe(): Machine {
    const { labels = {}, version = '', sandbox = 'unknown', server } = this.#options;
    return {
      name: this.name,
      epoch: this.#epoch,
      labels: { os: platform(), arch: arch(), ...labels },
      version,
      sandbox,
      state: server.isDraining ? 'draining' : 'ready',
      cores: availableParallelism(),
      load: loadavg()[0] ?? 0,
      ...server.usage(),
      seenAt: Date.now(),
    };
  }

  /** Leaves the fleet. Channels that are still open are lost. */
  close(): Promise<void> {
    this.#closing ??= this.#bus.close('the machine has left the fleet');
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #listen(): Promise<void> {
    const { nats } = this.#bus;
    this.#bus.carry(this.#subjects.toMachine(this.name, ANY, ANY_CHANNEL), (subject) =>
      this.#unknown(subject),
    );
    nats.subscribe(this.#subjects.open(this.name, ANY), {
      callback: (error, message) => {
        if (!error) message.respond(JSON.stringify(this.#open(message)));
      },
    });
    for (const subject of [this.#subjects.who, this.#subjects.whoIs(this.name)])
      nats.subscribe(subject, {
        callback: (error, message) => {
          if (!error) message.respond(JSON.stringify(this.describe()));
        },
      });
    this.#bus.onLost(() => {
      if (!this.#closing) this.#options.onLost?.('the connection to the fleet was closed');
    });
    await this.#bus.flush();
  }

  #open(message: Msg): OpenAnswer {
    const request = OpenRequest.safeParse(jsonOf(message));
    // The NATS server vouches for the name in the subject.
    const client = message.subject.slice(message.subject.lastIndexOf('.') + 1);
    if (!request.success) return refusal('invalidRequest', 'The request to open a channel is malformed.');
    const epoch = this.#epoch.toString(36);
    const token = channelToken(request.data, epoch);
    const from = this.#subjects.toMachine(this.name, client, token);
    const known = this.#bus.channel(from);
    if (known) return { epoch, credit: known.credit };
    if (this.#bus.channelCount >= MAX_CHANNELS)
      return refusal('overloaded', `${this.name} has reached its limit of ${MAX_CHANNELS} channels.`);
    const channel = this.#bus.openChannel({
      from,
      to: this.#subjects.toClient(this.name, client, token),
      label: `fleet ${client}`,
      credit: request.data.credit,
      granted: this.#bus.shares.first,
    });
    void this.#options.server.accept(channel, { principal: `fleet:${client}`, probe: () => channel.probe() });
    return { epoch, credit: channel.credit };
  }

  /** A client talks to a channel that does not exist here: of an earlier run, or given up. */
  #unknown(subject: string): void {
    const epoch = epochOf(subject);
    if (epoch > this.#epoch) return this.#fence();
    const [, fleet, , machine, client, ...token] = subject.split('.');
    if (fleet === undefined || machine === undefined || client === undefined) return;
    this.#bus.refuse(this.#subjects.toClient(machine, client, token.join('.')), 'the channel does not exist');
  }

  /** A later run has our name: whatever we did from now on would be ambiguous. */
  #fence(): void {
    if (this.#closing) return;
    this.#log.warn({ name: this.name }, 'another machine has taken our name in the fleet');
    void this.close();
    this.#options.onLost?.('another machine has taken our name');
  }
}

/** Otherwise everybody who reaches the NATS servers could run programs here. */
function requireProtected({ nats }: Bus): void {
  if (nats.info?.auth_required) return;
  throw new ExecError(
    'invalidConfiguration',
    'These NATS servers ask nobody for credentials, so whoever reaches them could run programs on this machine. ' +
      'Set them up with `execwire fleet init`, or add --insecure.',
  );
}

function refusal(code: string, message: string): OpenAnswer {
  return { error: { code, message } };
}

function jsonOf(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}

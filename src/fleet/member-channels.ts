import type { Msg } from '@nats-io/transport-node';
import { jsonOf } from './answers.js';
import { type Bus, MAX_CHANNELS } from './bus/bus.js';
import type { MachineServer } from './join-options.js';
import { channelToken, epochOf, type OpenAnswer, OpenRequest } from './open-protocol.js';
import { ANY, ANY_CHANNEL, answerTo, clientOf, type Subjects } from './subjects.js';

/** Nobody takes all places. */
const MAX_CHANNELS_PER_CLIENT = MAX_CHANNELS / 2;

/** Earlier runs that are remembered. */
const MAX_GONE = 64;

export interface MemberChannelsOptions {
  readonly bus: Bus;
  readonly subjects: Subjects;
  readonly name: string;
  readonly epoch: number;
  /** Whether another run of this machine answers. */
  readonly isThere: (epoch: number) => Promise<boolean>;
  readonly server: MachineServer;
}

/** Opens channels for clients that ask this machine for one. */
export class MemberChannels {
  readonly #options: MemberChannelsOptions;
  readonly #perClient = new Map<string, number>();
  /** Runs of this machine that are over. */
  readonly #gone = new Set<number>();
  /** Subjects of channels that another run may have, while we ask for it. */
  readonly #unclear = new Set<string>();
  #isAsking = false;

  constructor(options: MemberChannelsOptions) {
    this.#options = options;
  }

  listen(): void {
    const { bus, subjects, name } = this.#options;
    bus.carry(subjects.toMachine(name, ANY, ANY_CHANNEL), (subject) => this.#unknown(subject));
    bus.answer(
      subjects.open(name, ANY),
      (message) => answerTo(message.reply, subjects, { machine: name, client: clientOf(message) }),
      (message) => this.#open(clientOf(message), message),
    );
  }

  #open(client: string, message: Msg): OpenAnswer {
    const { bus, subjects, name, server } = this.#options;
    const request = OpenRequest.safeParse(jsonOf(message));
    if (!request.success) return refusal('invalidRequest', 'The request to open a channel is malformed.');
    const epoch = this.#options.epoch.toString(36);
    const token = channelToken(request.data, epoch);
    const from = subjects.toMachine(name, client, token);
    const known = bus.channel(from);
    if (known) return { epoch, credit: known.credit };
    if (bus.channelCount >= MAX_CHANNELS)
      return refusal('overloaded', `${name} has reached its limit of ${MAX_CHANNELS} channels.`);
    if ((this.#perClient.get(client) ?? 0) >= MAX_CHANNELS_PER_CLIENT)
      return refusal('overloaded', `A client may have ${MAX_CHANNELS_PER_CLIENT} channels to ${name}.`);
    this.#count(client, 1);
    const channel = bus.openChannel({
      from,
      to: subjects.toClient(name, client, token),
      label: `fleet ${client}`,
      credit: request.data.credit,
      granted: bus.shares.first,
      ended: () => this.#count(client, -1),
    });
    void server.accept(channel, { principal: `fleet:${client}`, probe: () => channel.probe() });
    return { epoch, credit: channel.credit };
  }

  #count(client: string, change: 1 | -1): void {
    const count = (this.#perClient.get(client) ?? 0) + change;
    if (count > 0) this.#perClient.set(client, count);
    else this.#perClient.delete(client);
  }

  /** A client talks to a channel that does not exist here: of an earlier run, or given up. */
  #unknown(subject: string): void {
    const { epoch } = this.#options;
    const run = epochOf(subject);
    if (!Number.isSafeInteger(run)) return;
    if (run === epoch || this.#gone.has(run)) return this.#refuse(subject);
    if (this.#unclear.size < MAX_CHANNELS) this.#unclear.add(subject);
    // Another run that is still there may be a later one, and it is for that one to answer.
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#askFor(run)
      .catch(() => undefined)
      .finally(() => (this.#isAsking = false));
  }

  async #askFor(run: number): Promise<void> {
    const { isThere } = this.#options;
    const isGone = !(await isThere(run));
    if (isGone) this.#gone.add(run);
    const [oldest = run] = this.#gone;
    if (this.#gone.size > MAX_GONE) this.#gone.delete(oldest);
    const unclear = [...this.#unclear].filter((subject) => epochOf(subject) === run);
    // What belongs to yet another run is repeated soon.
    this.#unclear.clear();
    if (isGone) for (const subject of unclear) this.#refuse(subject);
  }

  #refuse(subject: string): void {
    const { bus, subjects, name } = this.#options;
    const [client = '', ...token] = subject.split('.').slice(4);
    bus.refuse(subjects.toClient(name, client, token.join('.')), 'the channel does not exist');
  }
}

function refusal(code: string, message: string): OpenAnswer {
  return { error: { code, message } };
}

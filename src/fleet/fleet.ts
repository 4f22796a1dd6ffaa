import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type ErrorCode, errorCatalogue, ExecError } from '../protocol/errors.js';
import type { Channel } from '../rpc/index.js';
import { DEFAULT_CONNECT_TIMEOUT_MS } from '../transport/dial-target.js';
import { Bus, MAX_CHANNELS } from './bus/bus.js';
import { DEFAULT_IDENTITY, DEFAULT_FLEET, type FleetSettings } from './bus/bus-settings.js';
import { channelToken, OpenAnswer, type OpenRequest } from './open-protocol.js';
import { leastLoaded, type Machine } from './machine.js';
import { callRoll } from './roll-call.js';
import { explainNoMatch, matches, type Selector } from './selector.js';
import { ANY, inboxOf, requireName, type Subjects, subjectsOf } from './subjects.js';

/** How long a machine may take to answer before it is asked again: a NATS node may just have died. */
const ANSWER_TIMEOUT_MS = 1000;
const ASK_AGAIN_MS = 50;

/** A client's connection to a fleet. */
export class Fleet implements AsyncDisposable {
  readonly #bus: Bus;
  readonly #subjects: Subjects;
  readonly #identity: string;
  /** Tells our channels from those of others with the same identity. */
  readonly #connection = randomBytes(8).toString('hex');
  #opened = 0;

  private constructor(bus: Bus, { fleet = DEFAULT_FLEET, identity = DEFAULT_IDENTITY }: FleetSettings) {
    this.#bus = bus;
    this.#subjects = subjectsOf(fleet);
    this.#identity = identity;
    bus.carry(this.#subjects.toClient(ANY, identity, `${this.#connection}.*`));
  }

  static async connect(settings: FleetSettings): Promise<Fleet> {
    const { identity = DEFAULT_IDENTITY } = settings;
    return new Fleet(await Bus.connect(settings, `execwire client ${identity}`), settings);
  }

  /** True if nothing uses this connection. */
  get isIdle(): boolean {
    return this.#bus.channelCount === 0;
  }

  /** Opens a channel to a machine. Fails at once if there is no machine of that name. */
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
    const inbox = `${inboxOf(this.#identity)}.${this.#connection}.${randomBytes(8).toString('hex')}`;
    const machines = await callRoll(this.#bus, { subject: this.#subjects.who, inbox });
    return selector ? machines.filter((machine) => matches(selector, machine)) : machines;
  }

  /** Chooses the least loaded machine that matches and takes work. */
  async choose(selector: Selector): Promise<Machine> {
    const machines = await this.list();
    const matching = machines.filter((machine) => matches(selector, machine));
    const chosen = leastLoaded(matching.filter(({ state }) => state === 'ready'));
    if (chosen) return chosen;
    const message =
      matching.length === 0
        ? explainNoMatch(selector, machines)
        : `All ${matching.length} machines that match "${selector.text}" are cordoned or draining.`;
    throw new ExecError('notConnected', message);
  }

  async close(): Promise<void> {
    await this.#bus.close('the client was closed');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Asks until there is an answer. The machine recognizes a request it has already granted. */
  async #request(
    machine: string,
    request: OpenRequest,
    timeoutMs: number,
  ): Promise<{ epoch: string; credit: number }> {
    const subject = this.#subjects.open(machine, this.#identity);
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) throw noAnswer(machine, timeoutMs);
      try {
        const timeout = Math.min(left, ANSWER_TIMEOUT_MS);
        return granted(await this.#bus.nats.request(subject, JSON.stringify(request), { timeout }));
      } catch (error) {
        if (!isPassing(error)) throw explained(error, machine);
        await pause(ASK_AGAIN_MS);
      }
    }
  }
}

function granted(message: { json(): unknown }): { epoch: string; credit: number } {
  const answer = OpenAnswer.parse(message.json());
  if (!('error' in answer)) return answer;
  const code = Object.hasOwn(errorCatalogue, answer.error.code)
    ? (answer.error.code as ErrorCode)
    : 'remoteError';
  throw new ExecError(code, answer.error.message);
}

/** Whether asking again may help: no answer yet, or the NATS node was lost meanwhile. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError') return true;
  return error.name === 'RequestError' && !isNobody(error);
}

/** The library wraps what happened. */
function isNobody(error: Error): boolean {
  const { cause } = error;
  return error.name === 'NoResponders' || (cause instanceof Error && cause.name === 'NoResponders');
}

function explained(error: unknown, machine: string): unknown {
  if (!(error instanceof Error) || error instanceof ExecError) return error;
  if (isNobody(error))
    return new ExecError(
      'notConnected',
      `No machine "${machine}" is in the fleet; see \`execwire fleet ls\`.`,
      {
        data: { machine },
      },
    );
  if (/permission/i.test(error.message))
    return new ExecError('notConnected', `Our credentials do not give access to "${machine}".`, {
      data: { machine },
    });
  return new ExecError('notConnected', `Cannot reach "${machine}" in the fleet.`, {
    data: { machine },
    cause: error,
  });
}

function noAnswer(machine: string, timeoutMs: number): ExecError {
  return new ExecError('notConnected', `"${machine}" in the fleet did not answer within ${timeoutMs} ms.`, {
    data: { machine },
  });
}

import { ExecError } from '../../protocol/errors.js';
import type { ConsoleSession } from '../console-sessions.js';
import type { ConsoleMachine } from '../machine.js';
import { MachinePorts } from './machine-ports.js';
import { type GateOptions, PortGate } from './port-gate.js';

/** Ports open at a time, of all users. Each is a listener. */
const MAX_GATES = 64;

/** The port to open. */
export interface PortRequest {
  readonly machine: ConsoleMachine;
  readonly port: number;
  /** Only if this process listens there. */
  readonly processId: string | undefined;
}

export interface GatesOptions {
  readonly admission: GateOptions['admission'];
  /** Null for plain HTTP, on loopback. */
  readonly tls: Omit<NonNullable<GateOptions['tls']>, 'host'> | null;
}

interface OpenGate extends PortRequest {
  readonly session: ConsoleSession;
  readonly gate: PortGate;
  readonly close: () => void;
}

/** The ports that people have opened. Each belongs to one browser and ends when that signs out. */
export class PortGates {
  readonly #gates = new Set<OpenGate>();
  readonly #options: GatesOptions;

  constructor(options: GatesOptions) {
    this.#options = options;
  }

  /** Returns an address that opens the port in the browser of this session, once. `host` is how that reached the console. */
  async open(session: ConsoleSession, wanted: PortRequest, host: string): Promise<string> {
    const known = this.#find(session, wanted);
    if (known) return known.gate.newAddress();
    if (this.#gates.size >= MAX_GATES)
      throw new ExecError('overloaded', `There are ${MAX_GATES} ports open already. Close some.`);
    const { machine, port, processId } = wanted;
    const ports = new MachinePorts(machine);
    const connect = () => ports.connect(port, processId);
    const { admission, tls } = this.#options;
    const gate = await PortGate.open({ port, connect, admission, tls: tls && { ...tls, host } });
    const close = (): void => {
      stop();
      this.#gates.delete(opened);
      gate.close();
      void ports.close();
    };
    const opened = { ...wanted, session, gate, close };
    this.#gates.add(opened);
    const stop = session.onOver(close);
    return gate.newAddress();
  }

  /** Returns false if it was not open. */
  close(session: ConsoleSession, wanted: PortRequest): boolean {
    const known = this.#find(session, wanted);
    known?.close();
    return known !== undefined;
  }

  /** What this browser has open. */
  of(session: ConsoleSession): { machine: string; port: number; processId: string | null }[] {
    return [...this.#gates]
      .filter((each) => each.session === session)
      .map(({ machine, port, processId = null }) => ({ machine: machine.id, port, processId }));
  }

  #find(session: ConsoleSession, { machine, port, processId }: PortRequest): OpenGate | undefined {
    return [...this.#gates].find(
      (each) =>
        each.session === session &&
        each.machine.id === machine.id &&
        each.port === port &&
        each.processId === processId,
    );
  }
}

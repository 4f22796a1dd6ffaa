import type { IncomingMessage, ServerResponse } from 'node:http';
import { isExecError } from '../../protocol/errors.js';
import { readBody, sendError, sendJson } from '../answers.js';
import type { ConsoleSession } from '../console-sessions.js';
import type { MachineDirectory } from '../machine-directory.js';
import type { PortGates, PortRequest } from './port-gates.js';

/** What the page asks about ports. */
export class PortsApi {
  readonly #machines: MachineDirectory;
  readonly #gates: PortGates;

  constructor({ machines, gates }: { machines: MachineDirectory; gates: PortGates }) {
    this.#machines = machines;
    this.#gates = gates;
  }

  list(response: ServerResponse, session: ConsoleSession): void {
    sendJson(response, 200, { ports: this.#gates.of(session) });
  }

  async open(request: IncomingMessage, response: ServerResponse, session: ConsoleSession): Promise<void> {
    const wanted = await this.#wanted(request);
    if (!wanted) return sendError(response, 400, 'invalidParams', 'Name a machine and a port of it.');
    try {
      // It was checked before: a name of this machine.
      const { hostname } = new URL(`http://${request.headers.host}`);
      sendJson(response, 200, { url: await this.#gates.open(session, wanted, hostname) });
    } catch (error) {
      if (!isExecError(error)) throw error;
      sendError(response, 429, error.code, error.message);
    }
  }

  async close(request: IncomingMessage, response: ServerResponse, session: ConsoleSession): Promise<void> {
    const wanted = await this.#wanted(request);
    sendJson(response, 200, { closed: wanted !== null && this.#gates.close(session, wanted) });
  }

  async #wanted(request: IncomingMessage): Promise<PortRequest | null> {
    const { machine: id, port, processId } = (await readBody(request)) ?? {};
    const machine = typeof id === 'string' ? this.#machines.find(id) : undefined;
    const isPort = Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535;
    if (!machine || !isPort) return null;
    return {
      machine,
      port: Number(port),
      processId: typeof processId === 'string' ? processId : undefined,
    };
  }
}

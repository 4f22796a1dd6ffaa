import type { Duplex } from 'node:stream';
import {
  type ConnectOptions,
  type ListeningPort,
  noPorts,
  type PortsOptions,
  type PortWatch,
} from '../../contract/index.js';
import type { ExecClient } from '../connection/exec-client.js';
import { watchRemotePorts } from './remote-port-watch.js';
import { RemoteStreams } from './remote-streams.js';

/** The ports of a machine: who listens, and the way there. */
export class RemotePorts {
  readonly #client: ExecClient;
  #streams: RemoteStreams | undefined;

  constructor(client: ExecClient) {
    this.#client = client;
  }

  async list({ scope }: PortsOptions): Promise<ListeningPort[]> {
    await this.#require();
    return (await this.#client.call('port/list', scope === undefined ? null : { scope })).ports;
  }

  async watch(options: PortsOptions): Promise<PortWatch> {
    await this.#require();
    return await watchRemotePorts(this.#client, options);
  }

  async connect(port: number, options: ConnectOptions): Promise<Duplex> {
    await this.#require();
    this.#streams ??= new RemoteStreams(this.#client);
    return await this.#streams.connect(port, options);
  }

  async #require(): Promise<void> {
    if (!this.#client.introduced) await this.#client.ready();
    if (!this.#client.serverCapabilities.ports) throw noPorts();
  }
}

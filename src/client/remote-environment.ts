import type { Environment, ExecProcess, FileSystem, ProcessSpec, ProcessSummary } from '../contract/index.js';
import type { EnvironmentInfo } from '../protocol/index.js';
import type { ExecClientOptions } from './client-options.js';
import { ExecClient } from './exec-client.js';
import { RemoteFileSystem } from './remote-file-system.js';
import type { RemoteProcess } from './remote-process.js';
import { startProcess } from './start-process.js';

/** A machine behind a connection to an exec server. */
export class RemoteEnvironment implements Environment {
  readonly id: string;
  readonly client: ExecClient;
  readonly files: FileSystem;
  readonly #processes = new Set<RemoteProcess>();
  #closing: Promise<void> | undefined;

  constructor({ id, client }: { id: string; client: ExecClient }) {
    this.id = id;
    this.client = client;
    this.files = new RemoteFileSystem(client);
  }

  /** Connects to a server and makes an environment of it. */
  static async connect(options: ExecClientOptions & { id: string }): Promise<RemoteEnvironment> {
    return new RemoteEnvironment({ id: options.id, client: await ExecClient.connect(options) });
  }

  /** A connection that cannot come back has ended. */
  get lost(): boolean {
    return !this.client.usable;
  }

  async info(): Promise<EnvironmentInfo> {
    return this.client.environmentInfo;
  }

  async start(spec: ProcessSpec): Promise<ExecProcess> {
    const process = await startProcess(this.client, spec);
    this.#forgetFinished();
    this.#processes.add(process);
    return process;
  }

  /** All processes of the session where the server tells them, else those started here that are not over. */
  async list(): Promise<ProcessSummary[]> {
    if (this.client.serverCapabilities.processList) {
      return (await this.client.call('process/list', null)).processes;
    }
    this.#forgetFinished();
    return [...this.#processes].map((process) => process.summary());
  }

  close(): Promise<void> {
    this.#closing ??= this.#endAll().then(() => this.client.close());
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Ends what runs and lets its last events arrive. A server out of reach ends it with the session's lease. */
  async #endAll(): Promise<void> {
    this.#forgetFinished();
    await Promise.allSettled([...this.#processes].map((process) => process[Symbol.asyncDispose]()));
  }

  #forgetFinished(): void {
    for (const process of this.#processes) if (!process.live) this.#processes.delete(process);
  }
}

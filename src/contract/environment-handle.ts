import { ExecError } from '../protocol/errors.js';
import type { EnvironmentInfo } from '../protocol/index.js';
import type { ChangeSet, ChangeSetInfo, ChangesUpdate } from './changes.js';
import type { Environment } from './environment.js';
import type { FileSystem } from './file-system.js';
import type { Duplex } from 'node:stream';
import type {
  ConnectOptions,
  ForwardOptions,
  ListeningPort,
  PortForward,
  PortsOptions,
  PortWatch,
} from './ports/index.js';
import type { ExecProcess } from './process.js';
import type { ProcessEnd } from './process-event.js';
import type { AttachOptions, ProcessSpec } from './process-spec.js';
import type { ProcessSummary } from './process-summary.js';
import {
  type CommandTag,
  commandLines,
  commandTag,
  type LinesOptions,
  type OutputEncoding,
  type RunOptions,
  type RunResult,
  runCommand,
} from './run/index.js';

/** Everything that can be derived from starting processes, the same for every kind of machine. */
export abstract class EnvironmentHandle implements Environment {
  abstract readonly id: string;
  abstract readonly files: FileSystem;

  abstract info(): Promise<EnvironmentInfo>;
  abstract start(spec: ProcessSpec): Promise<ExecProcess>;
  abstract list(): Promise<ProcessSummary[]>;
  abstract close(): Promise<void>;
  abstract changes(changesId: string): ChangeSet;
  abstract changeSets(): Promise<readonly ChangeSetInfo[]>;
  abstract watchChanges(listener: (update: ChangesUpdate) => void): () => void;

  async kept(): Promise<ProcessSummary[]> {
    throw nothingKept();
  }

  async attach(_processId: string, _options?: AttachOptions): Promise<ExecProcess> {
    throw nothingKept();
  }

  async waitFor(_processId: string): Promise<ProcessEnd> {
    throw nothingKept();
  }

  async ports(_options?: PortsOptions): Promise<ListeningPort[]> {
    throw noPorts();
  }

  async watchPorts(_options?: PortsOptions): Promise<PortWatch> {
    throw noPorts();
  }

  async connect(_port: number, _options?: ConnectOptions): Promise<Duplex> {
    throw noPorts();
  }

  async forward(port: number, options?: ForwardOptions): Promise<PortForward> {
    const { forwardPort } = await import('./ports/forward.js');
    return await forwardPort((to, how) => this.connect(to, how), port, options);
  }

  async run<Encoding extends OutputEncoding = 'utf8'>(
    argv: readonly string[],
    options?: RunOptions<Encoding>,
  ): Promise<RunResult<Encoding>> {
    return await runCommand(this, argv, options);
  }

  lines(argv: readonly string[], options?: LinesOptions): AsyncGenerator<string, void> {
    return commandLines(this, argv, options);
  }

  get $(): CommandTag {
    return commandTag(this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** For machines on which everything ends with the program that started it. */
export function nothingKept(): ExecError {
  return new ExecError(
    'unsupported',
    'Nothing can outlive its client here. Start a server with `execwire serve` and use its URL.',
  );
}

/** For machines that do not tell who listens where. */
export function noPorts(): ExecError {
  return new ExecError(
    'unsupported',
    'Ports are not known here. Use a server started with a recent `execwire serve`, on Linux.',
  );
}

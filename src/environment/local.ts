import type { Environment, ExecProcess, FileSystem, ProcessSpec, ProcessSummary } from '../contract/index.js';
import {
  childEnvironment,
  LocalFileSystem,
  machineInfo,
  ProcessTable,
  type ProcessTableOptions,
} from '../host/index.js';
import type { EnvironmentInfo, EnvPolicy } from '../protocol/index.js';

/** What a child sees unless told otherwise: everything we see. */
const INHERIT_ALL: EnvPolicy = {
  inherit: 'all',
  ignoreDefaultExcludes: true,
  exclude: [],
  set: {},
  includeOnly: [],
};
const DEFAULT_SIZE = { rows: 24, cols: 80 };

/** This machine, in this process: no wire, no serialisation, the same contract. */
export class LocalEnvironment implements Environment {
  readonly id: string;
  readonly files: FileSystem = new LocalFileSystem();
  readonly #table: ProcessTable;

  constructor(options: ProcessTableOptions & { id?: string } = {}) {
    this.id = options.id ?? 'local';
    this.#table = new ProcessTable(options);
  }

  async info(): Promise<EnvironmentInfo> {
    return machineInfo();
  }

  async start(spec: ProcessSpec): Promise<ExecProcess> {
    const { processId, argv, arg0, tty = false, size = DEFAULT_SIZE, pipeStdin = false } = spec;
    const policy = spec.envPolicy === undefined ? INHERIT_ALL : spec.envPolicy;
    const process_ = this.#table.start({
      ...(processId === undefined ? {} : { processId }),
      argv,
      ...(arg0 === undefined ? {} : { arg0 }),
      cwd: spec.cwd ?? process.cwd(),
      env: childEnvironment({ own: process.env, policy, overlay: spec.env ?? {} }),
      stdin: pipeStdin ? 'pipe' : 'null',
      terminal: tty ? size : null,
      timeoutMs: spec.timeoutMs,
    });
    process_.holdFromStart();
    return process_;
  }

  async list(): Promise<ProcessSummary[]> {
    return this.#table.all().map((each) => each.summary());
  }

  async close(): Promise<void> {
    await this.#table.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

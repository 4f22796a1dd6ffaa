import type { Socket } from 'node:net';
import { type Command, Option } from 'commander';
import { AuditFile, logEvents, MetricsListener, ServerMetrics } from '../../operation/index.js';
import type { ExecServer, ServerEvent, ServerLog, ServeOptions } from '../../server/index.js';
import type { Admission } from '../../transport/index.js';
import { parseDuration } from './option-values.js';

/** The same as systemd gives most services, less what ending takes. */
const DEFAULT_SHUTDOWN_GRACE_MS = 10_000;

/** The flags for operators of a server. */
export interface OperationFlags {
  readonly audit?: string;
  readonly auditArguments?: boolean;
  readonly metrics?: string;
  readonly shutdownGrace: number;
}

export function addOperationOptions(command: Command): Command {
  return command
    .optionsGroup('Operation:')
    .option('--audit <file>', 'append a record of who did what to this file, as JSON lines')
    .option(
      '--audit-arguments',
      'with --audit: write the arguments of programs, too; they may contain secrets',
    )
    .option(
      '--metrics <ip:port>',
      'serve /metrics for Prometheus and /healthz on this address, without a token',
    )
    .addOption(
      new Option(
        '--shutdown-grace <time>',
        'how long programs may take to end after SIGTERM, before they are killed',
      )
        .argParser(parseDuration)
        .default(DEFAULT_SHUTDOWN_GRACE_MS, '10s'),
    )
    .optionsGroup('');
}

/** What observes a server: its log, the audit file, metrics. */
export class Operation {
  readonly options: Pick<ServeOptions, 'observe' | 'timeRequest'>;
  readonly #audit: AuditFile | undefined;
  readonly #metrics: ServerMetrics | undefined;
  readonly #address: string | undefined;
  readonly #place: { server?: ExecServer };

  private constructor(parts: {
    audit?: AuditFile;
    metrics?: ServerMetrics;
    address?: string;
    log?: ServerLog;
    /** Where the server is, once there is one. */
    place: { server?: ExecServer };
  }) {
    const { audit, metrics, address, log } = parts;
    this.#audit = audit;
    this.#metrics = metrics;
    this.#address = address;
    this.#place = parts.place;
    const toLog = log && logEvents(log);
    const observe = (event: ServerEvent): void => {
      toLog?.(event);
      audit?.write(event);
      metrics?.observe(event);
    };
    this.options = { observe, timeRequest: metrics?.timeRequest };
  }

  /** `log`: where processes are logged, too. A program that starts us over stdio does not expect that. */
  static async begin(
    { audit: path, auditArguments: withArguments = false, metrics: address }: OperationFlags,
    { log, logsEvents }: { log: ServerLog; logsEvents: boolean },
  ): Promise<Operation> {
    const audit = path === undefined ? undefined : new AuditFile({ path, withArguments, log });
    const place: { server?: ExecServer } = {};
    const idle = { connections: 0, sessions: 0, processes: 0, unsentBytes: 0, unreadInputBytes: 0 };
    const status = (): typeof idle => place.server?.status() ?? idle;
    const metrics = address === undefined ? undefined : await ServerMetrics.create(status);
    return new Operation({
      ...(audit ? { audit } : {}),
      ...(metrics ? { metrics } : {}),
      ...(address === undefined ? {} : { address }),
      ...(logsEvents ? { log } : {}),
      place,
    });
  }

  /** The server to tell about. */
  watch(server: ExecServer): void {
    this.#place.server = server;
  }

  /** Serves metrics to those admitted, if they are wanted. Returns where. */
  async listen(admission: Admission): Promise<string | undefined> {
    if (!this.#metrics || this.#address === undefined) return undefined;
    const admits = (ends: Socket): boolean => admission(ends, { authenticated: false });
    return (await MetricsListener.open(this.#address, { metrics: this.#metrics, admits })).url;
  }

  /** After the audit file was moved away. */
  reopen(): void {
    this.#audit?.reopen();
  }
}

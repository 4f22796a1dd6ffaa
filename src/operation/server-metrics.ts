import type { Registry } from 'prom-client';
import type { ServerEvent, ServerStatus } from '../server/index.js';

/** From a millisecond to minutes. */
const REQUEST_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];
const PROCESS_SECONDS = [0.01, 0.1, 1, 10, 60, 600, 3600];

/** Receives how long requests took. */
export type RequestTimes = (method: string, seconds: number) => void;

type Client = typeof import('prom-client');

/** Counts what happens on a server, for Prometheus. */
export class ServerMetrics {
  readonly registry: Registry;
  readonly observe: (event: ServerEvent) => void;
  readonly timeRequest: RequestTimes;

  private constructor(client: Client, status: () => ServerStatus) {
    this.registry = new client.Registry();
    client.collectDefaultMetrics({ register: this.registry });
    addGauges(client, this.registry, status);
    this.observe = eventCounters(client, this.registry);
    const requests = new client.Histogram({
      name: 'execwire_request_duration_seconds',
      help: 'Time from a request to its answer, by method.',
      labelNames: ['method'],
      buckets: REQUEST_SECONDS,
      registers: [this.registry],
    });
    this.timeRequest = (method, seconds) => requests.observe({ method }, seconds);
  }

  /** Loads the library only where metrics are wanted. */
  static async create(status: () => ServerStatus): Promise<ServerMetrics> {
    const module = await import('prom-client');
    return new ServerMetrics(module.default, status);
  }
}

/** Measured on request. */
function addGauges(client: Client, registry: Registry, status: () => ServerStatus): void {
  const gauges: Readonly<Record<keyof ServerStatus, [name: string, help: string]>> = {
    connections: ['execwire_connections', 'Connected clients.'],
    sessions: ['execwire_sessions', 'Sessions, connected or waiting for their client.'],
    processes: ['execwire_processes', 'Running processes.'],
    unsentBytes: ['execwire_unsent_bytes', 'Output and answers that clients have not received yet.'],
    unreadInputBytes: ['execwire_unread_input_bytes', 'Input that programs have not read yet.'],
  };
  for (const [key, [name, help]] of Object.entries(gauges)) {
    const gauge = new client.Gauge({
      name,
      help,
      registers: [],
      collect() {
        // The keys of `gauges` are those of the status.
        this.set(status()[key as keyof ServerStatus]);
      },
    });
    registry.registerMetric(gauge);
  }
}

function eventCounters(client: Client, registry: Registry): (event: ServerEvent) => void {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new client.Counter({ name, help, labelNames, registers });
  const started = counter('execwire_processes_started_total', 'Processes started.', ['sandbox']);
  const ended = counter('execwire_processes_ended_total', 'Processes that have ended, by how.', ['end']);
  const refusedStarts = counter('execwire_starts_refused_total', 'Starts refused, by error code.', [
    'reason',
  ]);
  const refusedLogins = counter('execwire_logins_refused_total', 'Clients refused, by HTTP status.', [
    'status',
  ]);
  const sessions = counter('execwire_sessions_opened_total', 'Sessions opened or resumed.', ['kind']);
  const output = counter('execwire_output_bytes_total', 'Output of ended processes.');
  const cpu = counter('execwire_process_cpu_seconds_total', 'CPU time of ended processes.', ['mode']);
  const durations = new client.Histogram({
    name: 'execwire_process_duration_seconds',
    help: 'How long processes ran.',
    buckets: PROCESS_SECONDS,
    registers,
  });
  return (event) => {
    if (event.event === 'processStarted') started.inc({ sandbox: event.sandbox });
    else if (event.event === 'startRefused') refusedStarts.inc({ reason: event.reason });
    else if (event.event === 'loginRefused') refusedLogins.inc({ status: String(event.status) });
    else if (event.event === 'sessionOpened') sessions.inc({ kind: 'opened' });
    else if (event.event === 'sessionResumed') sessions.inc({ kind: 'resumed' });
    else if (event.event === 'processEnded') {
      ended.inc({ end: endOf(event) });
      output.inc(event.outputBytes);
      durations.observe(event.durationMs / 1000);
      if (!event.usage) return;
      cpu.inc({ mode: 'user' }, event.usage.userMs / 1000);
      cpu.inc({ mode: 'system' }, event.usage.systemMs / 1000);
    }
  };
}

function endOf(event: Extract<ServerEvent, { event: 'processEnded' }>): string {
  if (event.timedOut) return 'timedOut';
  if (event.signal !== null) return 'killed';
  return event.exitCode === 0 ? 'succeeded' : 'failed';
}

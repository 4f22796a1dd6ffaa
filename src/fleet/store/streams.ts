import type { StreamConfig } from '@nats-io/jetstream';
import { jobSubjects } from '../jobs/job-subjects.js';

/** A machine that has not renewed its entry for this long is no longer in the registry. */
const REGISTRY_TTL_MS = 30_000;
/** How long jobs and their output are remembered. */
const REMEMBERED_MS = 7 * 86_400_000;
/**
 * Messages on one subject of a job. The first proposed step counts, so a repeated one must not replace it; of everything else the
 * last one counts.
 */
const MAX_JOB_MESSAGES = 16;
/** What all jobs of a fleet may take on disk, on each node. Beyond it, no more are accepted. NATS reserves it. */
const MAX_JOBS_BYTES = 128 * 1024 * 1024;
/** What the mirrored output of all jobs may take on disk. Beyond it, the oldest is dropped. */
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;
/** Messages with mirrored output of one attempt. The oldest are dropped, and readers learn how much is missing. */
const MAX_OUTPUT_MESSAGES = 4096;
/** A message that is sent again within this time is stored once. */
const DUPLICATE_WINDOW_MS = 120_000;
/** What survives the loss of a node is on this many. */
const REPLICAS = 3;

/** The streams of a fleet. */
export interface FleetStreams {
  /** A KV bucket: the machines, by name. */
  readonly machines: string;
  readonly jobs: string;
  /** What jobs print. */
  readonly output: string;
}

export function streamsOf(fleet: string): FleetStreams {
  return { machines: `KV_${bucketOf(fleet)}`, jobs: `ew-${fleet}-jobs`, output: `ew-${fleet}-output` };
}

/** The subject of a machine in the registry. */
export function registrySubject(fleet: string, machine: string): string {
  return `$KV.${bucketOf(fleet)}.${machine}`;
}

function bucketOf(fleet: string): string {
  return `ew-${fleet}-machines`;
}

/** The configuration of all streams, for a cluster of so many nodes. */
export function streamConfigs(fleet: string, nodes: number): Partial<StreamConfig>[] {
  const streams = streamsOf(fleet);
  const subjects = jobSubjects(fleet);
  const common = {
    retention: 'limits',
    num_replicas: nodes >= REPLICAS ? REPLICAS : 1,
    allow_direct: true,
  } as const;
  const durable = { storage: 'file', max_age: nanos(REMEMBERED_MS) } as const;
  return [
    {
      ...common,
      name: streams.machines,
      subjects: [registrySubject(fleet, '>')],
      storage: 'memory',
      max_msgs_per_subject: 1,
      max_age: nanos(REGISTRY_TTL_MS),
      discard: 'new',
      // Otherwise a machine that enters itself could remove all others.
      allow_rollup_hdrs: false,
      deny_delete: true,
      duplicate_window: nanos(REGISTRY_TTL_MS),
    },
    {
      ...common,
      ...durable,
      name: streams.jobs,
      subjects: [subjects.everything],
      max_msgs_per_subject: MAX_JOB_MESSAGES,
      max_bytes: MAX_JOBS_BYTES,
      discard: 'new',
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    },
    {
      ...common,
      ...durable,
      name: streams.output,
      subjects: [subjects.output('*', '*', '*', '*')],
      max_msgs_per_subject: MAX_OUTPUT_MESSAGES,
      max_bytes: MAX_OUTPUT_BYTES,
      discard: 'old',
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    },
  ];
}

function nanos(ms: number): number {
  return ms * 1_000_000;
}

import { setTimeout as pause } from 'node:timers/promises';
import type { OutputStream } from '../../contract/index.js';
import type { JobOutput } from './job.js';
import type { Stored } from '../store/index.js';
import { firstState, type JobOrder, type JobState } from './job-records.js';
import type { JobStore } from './job-store.js';
import type { JobKey } from './job-subjects.js';
import { JobWait } from './job-wait.js';
import { OFFSET_HEADER, STREAM_HEADER } from './output-mirror.js';

/** Any one machine. */
const ANY = '*';

/** What has just been stored is known to all nodes after a moment. */
const REST_TRIES = 5;
const REST_AGAIN_MS = 100;

interface ReadOptions {
  readonly follow: boolean;
  readonly attempt: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Reads what the fleet keeps of the output of an attempt. */
export async function* readOutput(
  store: JobStore,
  key: JobKey,
  order: JobOrder,
  { follow, attempt: wanted, signal }: ReadOptions,
): AsyncGenerator<JobOutput> {
  const wait = new JobWait(store, key, order);
  const { state: known } = await store.state(key);
  let state: JobState = known ?? firstState(order);
  if (follow && state.state === 'queued' && wanted === undefined)
    state = await wait.until((now) => now.state !== 'queued', signal);
  const attempt = wanted ?? (state.state === 'queued' ? state.attempt - 1 : state.attempt);
  const machine = machineOf(state, attempt);
  const subject = store.subjects.output(machine, key.client, key.id, String(attempt));
  const position = { at: 0 };
  const isOver = (now: JobState): boolean => now.attempt !== attempt || now.state !== 'running';
  if (follow && !isOver(state)) {
    const over = new AbortController();
    const ending = wait.until(isOver, signal).finally(() => over.abort());
    // Reported below, where it is awaited.
    ending.catch(() => undefined);
    yield* pieces(store, subject, position, over.signal);
    state = await ending;
  }
  yield* rest(store, subject, position);
  const end = machine === ANY ? undefined : await store.end(key, { machine, attempt });
  const total = end?.outputBytes ?? 0;
  for (let tries = 1; total > position.at && tries < REST_TRIES; tries += 1) {
    await pause(REST_AGAIN_MS);
    yield* rest(store, subject, position);
  }
  if (total > position.at) yield { type: 'gap', lostBytes: total - position.at };
}

/** Where an attempt was made, as far as it is known: what other machines say about it does not count. */
function machineOf(state: JobState, attempt: number): string {
  if (state.state === 'queued') return (attempt === state.attempt - 1 ? state.last : undefined) ?? ANY;
  return (attempt === state.attempt ? state.machine : undefined) ?? ANY;
}

/** The output stored so far, from a position on. */
async function* rest(store: JobStore, subject: string, position: { at: number }): AsyncGenerator<JobOutput> {
  const over = new AbortController();
  yield* pieces(store, subject, position, over.signal, () => over.abort());
}

/** Passes messages on at the pace of the reader, until the signal. */
async function* pieces(
  store: JobStore,
  subject: string,
  position: { at: number },
  signal: AbortSignal,
  onCaughtUp: () => void = () => undefined,
): AsyncGenerator<JobOutput> {
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  let next: { message: Stored; taken: () => void } | undefined;
  let wake = (): void => undefined;
  let failure: unknown;
  ended.addEventListener('abort', () => wake(), { once: true });
  const watching = store.output
    .watch(subject, {
      lastOnly: false,
      signal: ended,
      onCaughtUp,
      onMessage: (message) =>
        new Promise<void>((taken) => {
          next = { message, taken };
          wake();
        }),
    })
    .catch((error: unknown) => {
      failure = error;
      wake();
    });
  try {
    for (;;) {
      if (next) {
        const { message, taken } = next;
        next = undefined;
        yield* pieceOf(message, position);
        taken();
      } else if (failure !== undefined) throw failure;
      else if (ended.aborted) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stop.abort();
    next?.taken();
    await watching;
  }
}

function* pieceOf(message: Stored, position: { at: number }): Generator<JobOutput> {
  const offset = Number(message.header(OFFSET_HEADER));
  const stream = message.header(STREAM_HEADER);
  if (!Number.isSafeInteger(offset) || offset < position.at || !isStream(stream)) return;
  if (offset > position.at) yield { type: 'gap', lostBytes: offset - position.at };
  yield { type: 'output', stream, bytes: message.data };
  position.at = offset + message.data.length;
}

function isStream(text: string | undefined): text is OutputStream {
  return text === 'stdout' || text === 'stderr' || text === 'pty';
}

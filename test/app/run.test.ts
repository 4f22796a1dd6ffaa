import { expect, test, vi } from 'vitest';
import { CapturedRoom } from '../../src/app/captured-room.js';
import { Run, type RunOptions } from '../../src/app/run.js';
import { type ExecProcess, type ProcessEvent, QueuedInput, ServerInput } from '../../src/contract/index.js';
import { ExecError } from '../../src/protocol/index.js';

/** A process that does what the test says, for what no real one does on demand. */
function scripted(events: ProcessEvent[], more: Partial<ExecProcess> = {}): ExecProcess {
  const process: Partial<ExecProcess> = {
    tty: false,
    events: async function* () {
      yield* events;
    },
    terminate: async () => true,
    [Symbol.asyncDispose]: async () => undefined,
    ...more,
  };
  return process as ExecProcess;
}

function run(process: ExecProcess, more: Partial<RunOptions> = {}): Run {
  const wording = { notRunning: 'over', noStdin: 'none' };
  const queued = new QueuedInput(new ServerInput());
  const captured = new CapturedRoom();
  const defaults = {
    acceptsInput: true,
    queued,
    captured,
    outlet: null,
    capBytes: null,
    timeoutMs: null,
    wording,
  };
  return new Run({ process, ...defaults, ...more });
}

const exited = (exitCode: number): ProcessEvent => ({
  type: 'exited',
  seq: 1,
  exitCode,
  signal: null,
  timedOut: false,
  sandboxDenied: false,
});

test('a refused write does not close stdin: bytes and end can be sent again', async () => {
  const done: string[] = [];
  let full = true;
  const process = scripted([], {
    events: () => new ReadableStream<never>().values(),
    write: async () => {
      if (full) throw new ExecError('stdinFull', 'full');
      done.push('write');
      return 'accepted';
    },
    closeStdin: async () => void done.push('close'),
  });
  const target = run(process);
  await expect(target.write(Uint8Array.of(1), true)).rejects.toMatchObject({ code: 'stdinFull' });
  expect(done).toEqual([]);
  full = false;
  await target.write(Uint8Array.of(1), true);
  await target.write(undefined, true);
  expect(done).toEqual(['write', 'close']);
  await expect(target.write(Uint8Array.of(1), false)).rejects.toMatchObject({ code: 'stdinClosed' });
});

test('lost output and lost contact are errors, and what may still run is ended', async () => {
  const gap: ProcessEvent = { type: 'gap', afterSeq: 0, beforeSeq: 5, lostBytes: 10 };
  for (const events of [[gap, exited(0)], []]) {
    let terminated = false;
    const process = scripted(events, { terminate: async () => (terminated = true) });
    await expect(run(process).ended).rejects.toMatchObject({ code: 'environmentUnavailable' });
    expect(terminated).toBe(true);
  }
});

test('a program that ended by itself while its time ran out keeps its exit code', async () => {
  let finish: (() => void) | undefined;
  const killed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const process = scripted([], {
    events: async function* () {
      await killed;
      yield exited(3);
      yield { type: 'closed', seq: 2 };
    },
    terminate: async () => {
      finish?.();
      return true;
    },
  });
  expect(await run(process, { timeoutMs: 0 }).ended).toMatchObject({ exitCode: 3, drainTimedOut: false });
});

test('a terminate that did not arrive can be repeated', async () => {
  let attempts = 0;
  const process = scripted([], {
    events: () => new ReadableStream<never>().values(),
    terminate: async () => {
      attempts += 1;
      if (attempts === 1) throw new ExecError('contactLost', 'away');
      return true;
    },
  });
  const target = run(process);
  await expect(target.terminate()).rejects.toMatchObject({ code: 'contactLost' });
  await target.terminate();
  await expect(target.terminate()).rejects.toMatchObject({ code: 'processExited', message: 'over' });
});

test('a time limit of 60 days ends a run after 60 days', async () => {
  const timeoutMs = 60 * 24 * 60 * 60_000;
  vi.useFakeTimers();
  try {
    const terminate = vi.fn(async () => true);
    const events = () => new ReadableStream<never>().values();
    run(scripted([], { events, terminate }), { timeoutMs });
    vi.advanceTimersByTime(timeoutMs - 1);
    expect(terminate).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(terminate).toHaveBeenCalledTimes(1);
  } finally {
    vi.useRealTimers();
  }
});

import { afterEach, expect, test } from 'vitest';
import { ByteBudget, LineAccount } from '../../src/rpc/index.js';
import { ScreenRenderer } from '../../src/screen/index.js';
import { Keep } from '../../src/server/keep.js';
import { silentLog } from '../../src/server/log.js';
import { ServerInput } from '../../src/contract/index.js';
import { Session } from '../../src/server/session.js';
import type { SessionConnection } from '../../src/server/session/session-options.js';
import type { LocalProcess } from '../../src/host/index.js';

const KiB = 1024;
const MiB = 1024 * KiB;
/** What every program may have, and what each session may have when the server has no room. */
const ALWAYS = 64 * KiB;
const LAST = MiB;
/** What goes into a pipe is no longer in the queue. */
const PIPE = 64 * KiB;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

function openSession(input: ServerInput): Session {
  const session = new Session({
    acknowledged: true,
    principal: 'me',
    table: {},
    budget: new ByteBudget(),
    input,
  });
  const connection: Partial<SessionConnection> = { account: new LineAccount() };
  session.attach(connection as SessionConnection);
  open.push(session);
  return session;
}

function openKeep(): Keep {
  const renderer = new ScreenRenderer(new URL('file:///nowhere'));
  const keep = new Keep({ table: {}, log: silentLog, renderer });
  open.push(keep);
  return keep;
}

function deaf(processId: string) {
  return {
    processId,
    argv: ['/bin/sleep', '600'],
    cwd: '/',
    env: {},
    stdin: 'pipe',
    terminal: null,
  } as const;
}

/** Types a piece at a time until it is refused. Returns what the program has not read. */
function fill(
  session: Session,
  process: LocalProcess,
  { upTo = Number.POSITIVE_INFINITY, pieceBytes = 32 * KiB } = {},
): number {
  const piece = new Uint8Array(pieceBytes);
  for (let typed = 0; typed < upTo; typed += pieceBytes) {
    try {
      session.input.requireRoom(process, piece.length);
    } catch (error) {
      expect(error).toMatchObject({ code: 'stdinFull' });
      break;
    }
    process.input.enqueue(piece);
  }
  return process.queuedInputBytes;
}

test('all sessions of a server together queue no more than it may hold', () => {
  const input = new ServerInput(8 * MiB);
  const held = Array.from({ length: 6 }, (_, index) => {
    const session = openSession(input);
    return fill(session, session.processes.start(deaf(`deaf-${index}`)), { upTo: 4 * MiB });
  });
  const sum = held.reduce((all, each) => all + each, 0);
  expect(sum).toBeGreaterThan(8 * MiB - MiB);
  expect(sum).toBeLessThanOrEqual(8 * MiB + held.length * (LAST + ALWAYS));
  // Whoever comes last gets its share.
  expect(held.at(-1)).toBeGreaterThan(LAST - 2 * PIPE);
});

test('what a kept process has queued counts when nobody uses it, and for whoever comes next', () => {
  const input = new ServerInput(8 * MiB);
  const keep = openKeep();
  let sum = 0;
  for (let index = 0; index < 12; index += 1) {
    const session = openSession(input);
    const kept = keep.start('me', deaf(`kept-${index}`), 'kept');
    // Nobody gets around it by coming and going.
    for (let round = 0; round < 5; round += 1) {
      session.attachKept(kept, { afterSeq: 0, mayPause: true });
      fill(session, kept.process, { upTo: 2 * MiB, pieceBytes: MiB });
      session.kept.detach(kept.process.processId);
    }
    sum += kept.process.queuedInputBytes;
  }
  expect(sum).toBeLessThanOrEqual(8 * MiB + 12 * (LAST + ALWAYS));
});

test('there is room again once programs have ended', async () => {
  const input = new ServerInput(2 * MiB);
  const hog = openSession(input);
  const child = hog.processes.start(deaf('hog'));
  fill(hog, child);
  expect(input.hasRoom(MiB)).toBe(false);
  await child.kill();
  expect(input.hasRoom(2 * MiB)).toBe(true);
});

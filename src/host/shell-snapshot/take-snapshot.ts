import type { Child, ChildSink, ChildSpec } from '../spawn/index.js';
import { captureCommand } from './capture-script.js';
import { ShellSnapshot } from './shell-snapshot.js';
import { environmentChange, isSameState, parseState, type ShellState } from './shell-state.js';

/** The same as Codex: more is not worth keeping, and a slower profile is waiting for something. */
const MAX_STATE_BYTES = 512 * 1024;
const CAPTURE_LIMIT_MS = 10_000;

/**
 * Starts a program where the command itself would run: under its policy, in its directory. Takes ownership of the
 * descriptor.
 */
export type Spawn = (spec: ChildSpec & { readonly script?: number }, sink: ChildSink) => Promise<Child>;

/**
 * Runs the profile of a shell once and saves its effects. Before anyone relies on them, a second shell is started from
 * the saved state and captured as well: null unless both have the same state.
 */
export async function takeSnapshot(spec: ChildSpec, spawn: Spawn): Promise<ShellSnapshot | null> {
  const [shell = ''] = spec.argv;
  const base = { cwd: spec.cwd, env: spec.env, stdin: 'null', terminal: null } as const;
  const state = await stateOf({ ...base, argv: captureCommand(shell, '-lc') }, spawn);
  if (state === null) return null;
  const snapshot = new ShellSnapshot(state, environmentChange(spec.env, state));
  const given = snapshot.give(spec.env, {});
  if (given === null) return null;
  const copy = await stateOf({ ...base, ...given, argv: captureCommand(shell, '-c') }, spawn);
  return copy !== null && isSameState(state, copy) ? snapshot : null;
}

/** Null if it prints nothing usable in time. What a profile left in the background keeps running. */
async function stateOf(spec: Parameters<Spawn>[0], spawn: Spawn): Promise<ShellState | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let over: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    over = resolve;
  });
  const child = await spawn(spec, {
    output: (stream, bytes) => {
      if (stream !== 'stdout' || size > MAX_STATE_BYTES) return;
      size += bytes.length;
      chunks.push(Uint8Array.from(bytes));
      if (size > MAX_STATE_BYTES) over();
    },
    exited: () => over(),
    closed: () => over(),
  });
  const timer = setTimeout(over, CAPTURE_LIMIT_MS);
  await ended;
  clearTimeout(timer);
  const state = size > MAX_STATE_BYTES ? null : parseState(Buffer.concat(chunks));
  if (state === null) await child.killTree();
  return state;
}

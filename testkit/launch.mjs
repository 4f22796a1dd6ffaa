import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The command that users run, as built. */
export const bin = fileURLToPath(new URL('../bin/execwire.js', import.meta.url));

/** How to call the pinned Codex: through its published launcher, as a user would. */
export const codexProgram = [
  process.execPath,
  fileURLToPath(new URL('../interop/node_modules/@openai/codex/bin/codex.js', import.meta.url)),
];

/**
 * @typedef {object} LaunchOptions
 * @property {readonly string[]} [wrapper] Precedes the command and must become it, as `exec` does: its pid is taken for
 *   the command's.
 * @property {Readonly<Record<string, string>>} [env] In addition to our own.
 * @property {string | undefined} [cwd]
 */

/**
 * Starts a program with three pipes. Its stdin may be closed at any time.
 * @param {readonly string[]} argv
 * @param {LaunchOptions} [options]
 */
export function launch(argv, { wrapper = [], env = {}, cwd } = {}) {
  const [program = '', ...args] = [...wrapper, ...argv];
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    cwd,
  });
  child.stdin.on('error', () => undefined);
  return child;
}

/**
 * The first line a server prints: its address. Rejects if the server ends before.
 * @param {import('node:child_process').ChildProcess} child
 * @param {() => string} [stderr] Added to the error.
 * @returns {Promise<string>}
 */
export async function firstLine(child, stderr = () => '') {
  if (!child.stdout) throw new Error('the server has no stdout');
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(([code, signal]) => {
      throw new Error(`the server ended at startup: ${code ?? signal} ${stderr()}`);
    }),
  ]);
  return line;
}

/**
 * Ends a child with a signal, unless it has already ended, and resolves to its exit code.
 * @param {import('node:child_process').ChildProcess} child
 * @param {NodeJS.Signals} [signal]
 */
export async function endChild(child, signal = 'SIGTERM') {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }
  return child.exitCode;
}

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Longer than any of the commands below takes, even on a slow machine. */
const LIMIT_MS = 60_000;

/**
 * Runs what people run most, so that V8's code for it can be shipped. Without it everything works, and starts
 * slower, by a third (bench/start-up.mjs): a machine that cannot run it builds all the same.
 */
export async function recordCode(root) {
  const folder = join(root, 'dist', 'bin');
  const argv = (...args) => [join(root, 'scripts', 'record-code.cjs'), folder, ...args];
  // Away from the configuration of whoever builds.
  const env = {
    ...process.env,
    EXECWIRE_HOME: '/nonexistent',
    EXECWIRE_SERVER_URL: '',
    CODEX_EXEC_SERVER_URL: '',
  };
  const record = (...args) =>
    spawnSync(process.execPath, argv(...args), { env, stdio: 'ignore', timeout: LIMIT_MS });
  record('run', '-e', 'local', '--', 'true');
  const serve = ['serve', '--listen', 'ws://127.0.0.1:0', '--log-level', 'silent'];
  const server = spawn(process.execPath, argv(...serve), { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const exit = once(server, 'exit');
  const ready = once(createInterface({ input: server.stdout }), 'line');
  const [url] = await Promise.race([ready, exit]);
  if (typeof url === 'string') record('run', '-e', url, '--', 'true');
  server.kill();
  await exit;
  // Loads every command.
  record('completion', 'candidates', '--', '');
}

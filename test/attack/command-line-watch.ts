import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { asIdentity } from '../harness/confined-server.js';

/** Neither of the users programs run as. Only root can be somebody else; others watch themselves. */
const observer = process.getuid?.() === 0 ? { name: 'observer', uid: 54_323 } : { name: 'observer' };

const SCRIPT = fileURLToPath(new URL('command-line-observer.mjs', import.meta.url));

/** What somebody else saw of a word while something was going on. */
export async function watchFor(
  word: string,
  what: () => Promise<void>,
): Promise<{ rounds: number; found: [secret: string, seenIn: string][] }> {
  const [command, ...args] = [...asIdentity(observer), process.execPath, SCRIPT, word];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: '/' });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child.stdout, 'data');
  try {
    await what();
  } finally {
    child.stdin.end();
    await once(child, 'close');
  }
  return JSON.parse(said.slice('ready\n'.length)) as Awaited<ReturnType<typeof watchFor>>;
}

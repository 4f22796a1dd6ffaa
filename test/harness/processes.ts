import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is gone when the test is over. */
export class TestFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'execwire-test-'));

  file(name: string): string {
    return join(this.path, name);
  }

  /** Resolves when a file of this folder exists and has content. */
  async appears(name: string): Promise<string> {
    const path = this.file(name);
    await new Promise<void>((resolve) => {
      const watcher = watch(this.path, () => look());
      const look = (): void => {
        if (!existsSync(path) || readFileSync(path, 'utf8') === '') return;
        watcher.close();
        resolve();
      };
      look();
    });
    return readFileSync(path, 'utf8');
  }

  [Symbol.dispose](): void {
    // Something that is just ending may still have put a file there.
    const remove = (): void => rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
    try {
      remove();
    } catch {
      // Whoever is not root has to open directories that a test has closed.
      execFileSync('chmod', ['-R', 'u+rwx', this.path]);
      remove();
    }
  }
}

/** Pids of processes that run (zombies do not) and carry `mark` as an argument. */
export function pidsWithArgument(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return args.includes(mark) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      } catch {
        return false;
      }
    });
}

/** Resolves when none of those processes is left; rejects when some resist. */
export async function gone(mark: string, limitMs = 10_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (pidsWithArgument(mark).length > 0) {
    if (Date.now() > deadline) throw new Error(`still running: ${pidsWithArgument(mark).join(' ')}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}

/**
 * A script whose tree has a background job, a child in a session of its own that forks twice, and a daemon that
 * left even its environment behind. Writes `ready` into a file once all four run; each has `mark` as its $0.
 */
export function stubbornTree(mark: string, readyFile: string): string {
  const sleeper = `exec sh -c "sleep 1000; :" ${mark}`;
  return [
    `sh -c '${sleeper}' &`,
    `setsid sh -c '(setsid sh -c "sleep 1000; :" ${mark} &) ; :'`,
    `env -i setsid setsid /bin/sh -c '/bin/sleep 1000; :' ${mark} &`,
    `until [ "$(grep -lazF ${mark} /proc/[0-9]*/cmdline 2>/dev/null | wc -l)" -ge 4 ]; do sleep 0.01; done`,
    `echo ready > ${readyFile}`,
    'sleep 1000',
  ].join('\n');
}

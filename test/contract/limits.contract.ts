import { describe, expect, test } from 'vitest';
import type { ProcessLimits } from '../../src/index.js';
import { readOnlySandbox } from '../../src/policy/index.js';
import { sh } from '../../testkit/wire-client.mjs';
import type { OpenEnvironment } from './process.contract.js';

const MIB = 1024 ** 2;

/** Real programs that take all they can get. */
const HOGS = {
  memory: ['python3', '-c', 'import sys\ntry: bytearray(400 << 20)\nexcept MemoryError: sys.exit("refused")'],
  cpu: ['python3', '-c', 'while True: pass'],
  files: [
    'python3',
    '-c',
    'import os\ntry:\n  while True: last = os.open("/dev/null", 0)\nexcept OSError as e: print(last, e.strerror)',
  ],
};

/** Limits of each process hold, everywhere and for the whole tree. */
export function limitsContract(
  name: string,
  open: OpenEnvironment,
  { terminals = true, sandboxes = true }: { terminals?: boolean; sandboxes?: boolean } = {},
): void {
  describe.for([
    ['', {}],
    ...(sandboxes ? ([[' in a sandbox', { sandbox: readOnlySandbox(null) }]] as const) : []),
  ] as const)(`${name}: limits%s`, ([, where]) => {
    test('a memory hog, a CPU burner and a descriptor hog are stopped', async () => {
      await using env = await open();
      const limits: ProcessLimits = { memoryBytes: 200 * MIB, cpuSeconds: 1, openFiles: 40 };
      const run = (argv: readonly string[]) => env.run(argv, { ...where, limits });
      const [memory, cpu, files] = await Promise.all([run(HOGS.memory), run(HOGS.cpu), run(HOGS.files)]);
      expect(memory).toMatchObject({ exitCode: 1, stderr: 'refused\n' });
      // 128 + SIGXCPU.
      expect(cpu).toMatchObject({ exitCode: 152 });
      expect(files).toMatchObject({ exitCode: 0, stdout: '39 Too many open files\n' });
    });

    test('they are inherited, cannot be raised, and change nothing else', async () => {
      await using env = await open();
      const script =
        'tr "\\0" " " < /proc/$$/cmdline; echo; (ulimit -Hn; ulimit -Hd; ulimit -Ht); pwd; env | sort';
      const options = {
        ...where,
        cwd: '/usr',
        envPolicy: null,
        env: { PATH: '/usr/bin:/bin', A: 'b' },
      } as const;
      const plain = await env.run(sh(script), options);
      const limits = { memoryBytes: 64 * MIB, cpuSeconds: 60, openFiles: 50 };
      const limited = await env.run(sh(script), { ...options, limits });
      const numbers = /^(\S+\n){3}(?=\/usr$)/m;
      expect(limited.stdout.replace(numbers, '')).toBe(plain.stdout.replace(numbers, ''));
      expect(numbers.exec(limited.stdout)?.[0]).toBe(`50\n${64 * 1024}\n61\n`);
      const named = await env.run(sh('tr "\\0" " " < /proc/$$/cmdline; ulimit -n'), {
        ...where,
        arg0: 'other',
        limits,
      });
      expect(named.stdout).toMatch(/^other -c .*50\n$/);
    });

    test('what cannot be started fails as without limits, and so does what is no limit', async () => {
      await using env = await open();
      const start = (argv: readonly string[], limits: ProcessLimits) => env.run(argv, { ...where, limits });
      await expect(start(['no-such-program'], { openFiles: 50 })).rejects.toMatchObject({
        code: 'spawnFailed',
        data: { reason: 'programNotFound' },
      });
      await expect(start(['/usr'], { openFiles: 50 })).rejects.toMatchObject({
        code: 'spawnFailed',
        data: { reason: 'notExecutable' },
      });
      for (const openFiles of [0, 1.5, -1])
        await expect(start(['true'], { openFiles })).rejects.toMatchObject({ code: 'invalidParams' });
    });

    test('a limit above what the server itself may have is that one', async () => {
      await using env = await open();
      const most = await env.run(sh('ulimit -Hn'), where);
      const limited = await env.run(sh('ulimit -Hn'), { ...where, limits: { openFiles: 2 ** 50 } });
      expect(limited.stdout).toBe(most.stdout);
    });

    test.runIf(terminals)('on a terminal, too', async () => {
      await using env = await open();
      const child = await env.start({ argv: HOGS.files, ...where, tty: true, limits: { openFiles: 40 } });
      let output = '';
      for await (const event of child.events())
        if (event.type === 'output') output += Buffer.from(event.bytes).toString();
      expect(output).toBe('39 Too many open files\r\n');
    });
  });

  describe(`${name}: when memory runs out`, () => {
    test('the kernel prefers a child and its descendants to the server', async () => {
      await using env = await open();
      // Its input comes when the start is over, and the server's own score is back where it was.
      const script = 'read go; cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj';
      const { stdout } = await env.run(sh(script), { input: 'go\n' });
      const [child = 0, server = 0] = stdout.trim().split('\n').map(Number);
      expect(child).toBe(Math.min(server + 200, 1000));
    });
  });
}

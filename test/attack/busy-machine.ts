import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Keeps every processor busy until it is disposed of. */
export function busyMachine(): Disposable {
  const burners = Array.from({ length: availableParallelism() }, () =>
    spawn('/bin/sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }),
  );
  return {
    [Symbol.dispose]() {
      for (const burner of burners) burner.kill('SIGKILL');
    },
  };
}

/** Runs a job for every number, a few at a time. */
export async function inParallel(
  { count, width }: { count: number; width: number },
  job: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

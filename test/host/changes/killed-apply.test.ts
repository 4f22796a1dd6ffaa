// Needs: bwrap
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ChangeSets } from '../../../src/host/index.js';
import { Scene } from './harness.js';

/** `npm run test:tricks` kills it more often. */
const KILLS = process.env.EXECWIRE_ALL_TRICKS === '1' ? 200 : 12;

/** The same for discarding. */
const DISCARDS = KILLS / 2;

const MAKE = `
  mkdir -p old/a old/b gone/deep typed; for i in $(seq 30); do echo old $i > old/a/$i; echo g > gone/deep/$i; done
  echo f > file; ln -s file link; echo t > typed/inside; chmod 700 old/b`;

const CHANGE = `
  for i in $(seq 1 2 30); do echo new $i > old/a/$i; done; rm -r gone; mkdir -p fresh/x/y; for i in $(seq 60); do echo $i > fresh/x/$i; done
  head -c 3000000 /dev/zero > fresh/big; rm -r typed; echo now a file > typed; rm file; mkdir file; echo d > file/d; ln -sfn old link
  chmod 750 old/b; touch -d 2020-01-01 old/a/2; ln fresh/x/1 old/linked; mkfifo queue`;

/** Everything that matters, as one text. */
function look(directory: string): string {
  const script = `find . -mindepth 1 -printf '%p %y %m %l %n\\n' | sort; find . -type f -print0 | sort -z | xargs -0 sha1sum`;
  return execFileSync('bash', ['-c', script], { cwd: directory, encoding: 'utf8' });
}

async function lineOf(child: ChildProcessWithoutNullStreams): Promise<string> {
  const [data] = (await once(child.stdout, 'data')) as [Buffer];
  return data.toString();
}

async function endElsewhere(
  scene: Scene,
  way: 'apply' | 'discard',
  deadly: number | null,
): Promise<ChildProcessWithoutNullStreams> {
  const program = fileURLToPath(new URL('./end-set-once.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, scene.sets, 'task', way, String(deadly ?? '')]);
  child.stderr.pipe(process.stderr);
  expect(await lineOf(child)).toBe('ready\n');
  return child;
}

/** What an apply that nobody disturbs takes. */
interface Course {
  readonly ms: number;
  /** Calls of the file system. */
  readonly steps: number;
  /** The one after which everything is done, whatever happens. */
  readonly commit: number;
}

/**
 * When to kill it: one time in four at any moment, to the microsecond, which is before the point of no return as a rule;
 * otherwise right before a step: one time in four before that point, and every second time after it.
 */
function deathOf(round: number, { ms, steps, commit }: Course): { afterMs: number } | { step: number } {
  if (round % 4 === 0) return { afterMs: ms * Math.random() };
  const [from, to] = round % 2 === 0 ? [1, commit] : [commit + 1, steps];
  return { step: from + Math.floor(Math.random() * (to - from + 1)) };
}

async function killAfter(child: ChildProcessWithoutNullStreams, afterMs: number): Promise<void> {
  const until = performance.now() + afterMs;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, afterMs - 2)));
  while (performance.now() < until);
  child.kill('SIGKILL');
}

test('a server that is killed while it applies leaves everything or nothing', {
  timeout: 900_000,
}, async () => {
  await using scene = new Scene();
  const outcomes = { undone: 0, finished: 0, completed: 0 };
  let course: Course = { ms: 0, steps: 0, commit: 0 };
  let [before, after] = ['', ''];
  for (let round = 0; round <= KILLS; round += 1) {
    rmSync(scene.workspace, { recursive: true });
    mkdirSync(scene.workspace);
    execFileSync('bash', ['-ec', MAKE], { cwd: scene.workspace });
    before = look(scene.workspace);
    await scene.run(CHANGE, { ...scene.policy(), changesLease: 'kept' });
    await scene.letGo();
    const death = round === 0 ? null : deathOf(round, course);
    const child = await endElsewhere(scene, 'apply', death && 'step' in death ? death.step : null);
    const ended = once(child, 'exit');
    const answer = lineOf(child).catch(() => '');
    child.stdin.write('go\n');
    if (death === null) {
      const [ms = 0, steps = 0, commit = 0] = (await answer).split(' ').slice(1).map(Number);
      course = { ms, steps, commit };
      expect(commit).toBeGreaterThan(1);
    } else if ('afterMs' in death) await killAfter(child, death.afterMs);
    await ended;
    const set = scene.environment.changes('task');
    const { changes } = await set.list();
    const now = look(scene.workspace);
    if (round === 0) after = now;
    expect(now).not.toContain('.execwire-');
    if (now === after) expect(changes).toEqual([]);
    else expect(now).toBe(before);
    if (round > 0) outcomes[now === before ? 'undone' : child.exitCode === 0 ? 'completed' : 'finished'] += 1;
    await set.apply({ onConflict: 'overwrite' });
    expect(look(scene.workspace)).toBe(after);
    await set.discard();
  }
  expect(before).not.toBe(after);
  console.info(`killed ${KILLS} times: ${JSON.stringify(outcomes)}`);
  // A quarter each, by the steps alone.
  expect(outcomes.undone).toBeGreaterThanOrEqual(Math.floor(KILLS / 4));
  expect(outcomes.finished).toBeGreaterThanOrEqual(Math.floor(KILLS / 4));
});

test('a set that is discarded after its server was killed while it applied leaves nothing half done either', {
  timeout: 300_000,
}, async () => {
  await using scene = new Scene();
  let course: Course = { ms: 0, steps: 0, commit: 0 };
  let after = '';
  for (const round of ['whole', 'before', 'beyond'] as const) {
    rmSync(scene.workspace, { recursive: true });
    mkdirSync(scene.workspace);
    execFileSync('bash', ['-ec', MAKE], { cwd: scene.workspace });
    const before = look(scene.workspace);
    await scene.run(CHANGE, { ...scene.policy(), changesLease: 'kept' });
    await scene.letGo();
    const deadly = { whole: null, before: course.commit - 10, beyond: course.commit + 10 }[round];
    const child = await endElsewhere(scene, 'apply', deadly);
    const ended = once(child, 'exit');
    const answer = lineOf(child).catch(() => '');
    child.stdin.write('go\n');
    if (round === 'whole') {
      const [ms = 0, steps = 0, commit = 0] = (await answer).split(' ').slice(1).map(Number);
      course = { ms, steps, commit };
      after = look(scene.workspace);
    }
    await ended;
    if (round !== 'whole') expect(readdirSync(scene.workspace).join(' ')).toContain('.execwire-');
    await scene.environment.changes('task').discard();
    expect(look(scene.workspace)).toBe(round === 'before' ? before : after);
    expect(readdirSync(scene.sets)).toEqual([]);
  }
});

test('a set whose server was killed while it discarded it is whole or gone', {
  timeout: 300_000,
}, async () => {
  await using scene = new Scene();
  const seen = { whole: 0, gone: 0 };
  let steps = 0;
  for (let round = 0; round <= DISCARDS; round += 1) {
    rmSync(scene.workspace, { recursive: true });
    mkdirSync(scene.workspace);
    execFileSync('bash', ['-ec', MAKE], { cwd: scene.workspace });
    await scene.run(CHANGE, { ...scene.policy(), changesLease: 'kept' });
    const { changes } = await scene.environment.changes('task').list();
    await scene.letGo();
    const child = await endElsewhere(
      scene,
      'discard',
      round === 0 ? null : Math.ceil((steps * round) / DISCARDS),
    );
    const ended = once(child, 'exit');
    const answer = lineOf(child).catch(() => '');
    child.stdin.write('go\n');
    if (round === 0) steps = Number((await answer).split(' ')[2]);
    await ended;
    await new ChangeSets({ directory: scene.sets }).recover();
    const left = readdirSync(scene.sets);
    seen[left.length === 0 ? 'gone' : 'whole'] += 1;
    if (left.length === 0) continue;
    expect((await scene.environment.changes('task').list()).changes).toEqual(changes);
    await scene.environment.changes('task').discard();
  }
  expect(steps).toBeGreaterThan(DISCARDS);
  expect(seen.gone).toBeGreaterThan(1);
});

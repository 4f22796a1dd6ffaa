import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { snapshotDisk } from '../../../src/host/sandbox/plan/disk.js';
import { type FilePolicy } from '../../../src/policy/internal.js';
import { planMounts } from '../../../src/host/sandbox/plan/mount-plan.js';
import { planNow } from '../../../src/host/sandbox/plan/known-plans.js';

let base: string;
let workspace: string;
let files: FilePolicy;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'execwire-plans-')));
  workspace = join(base, 'workspace');
  mkdirSync(workspace);
  files = {
    kind: 'restricted',
    hidden: [],
    rules: [
      { path: '/', access: 'read', whenMissing: 'skip' },
      { path: workspace, access: 'write', whenMissing: 'skip' },
      { path: join(workspace, '.git'), access: 'read', whenMissing: 'block' },
      { path: join(workspace, 'secret'), access: 'none', whenMissing: 'skip' },
    ],
  };
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Everything there is to a plan, or why there is none. */
function outcome(make: () => ReturnType<typeof planMounts>) {
  try {
    const { base: root, mounts, placeholders, accessAt } = make();
    return { root, mounts, placeholders, access: [workspace, `${workspace}/.git`].map(accessAt) };
  } catch (error) {
    return error;
  }
}

const remembered = () => outcome(() => planNow(files).plan);
const fresh = () => outcome(() => planMounts(files, snapshotDisk()));

describe('a plan that is remembered', () => {
  test('is used again while the disk says the same', () => {
    const { plan } = planNow(files);
    writeFileSync(join(workspace, 'file'), '');
    expect(planNow(files).plan).toBe(plan);
  });

  const git = () => join(workspace, '.git');
  const changes: Record<string, () => void> = {
    'a protected name was made': () => mkdirSync(git()),
    'a protected name is a file': () => writeFileSync(git(), ''),
    'a protected name is a link': () => symlinkSync('..', git()),
    'something hidden has come': () => mkdirSync(join(workspace, 'secret')),
    'the workspace has gone': () => rmdirSync(workspace),
    'the workspace has become a link': () => {
      renameSync(workspace, join(base, 'elsewhere'));
      symlinkSync('elsewhere', workspace);
    },
  };

  test.each(Object.entries(changes))('is made anew when %s', (_, change) => {
    const before = remembered();
    change();
    const after = fresh();
    expect(after).not.toEqual(before);
    expect(remembered()).toEqual(after);
    expect(remembered()).toEqual(after);
  });

  test('is made anew when a link points elsewhere, or a placeholder becomes a directory', () => {
    mkdirSync(git(), { mode: 0o1755 });
    expect(remembered()).toEqual(fresh());
    chmodSync(git(), 0o755);
    expect(remembered()).toEqual(fresh());
    for (const name of ['one', 'two']) mkdirSync(join(base, name));
    renameSync(workspace, join(base, 'elsewhere'));
    symlinkSync('one', workspace);
    expect(remembered()).toEqual(fresh());
    unlinkSync(workspace);
    symlinkSync('two', workspace);
    expect(remembered()).toEqual(fresh());
  });

  test('is never one with patterns', () => {
    files = { kind: 'restricted', rules: [], hidden: [{ pattern: `${workspace}/*.key`, maxDepth: 1 }] };
    const { plan } = planNow(files);
    expect(planNow(files).plan).not.toBe(plan);
  });
});

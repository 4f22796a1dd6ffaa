import { expect, test } from 'vitest';
import { snapshotDisk } from '../../../src/host/sandbox/plan/disk.js';
import { planMounts } from '../../../src/host/sandbox/plan/mount-plan.js';
import { withoutKernelMounts } from '../../../src/host/sandbox/plan/mount-table.js';

test('the kernel’s own places stay as they are', () => {
  const rules = [{ path: '/', access: 'read', whenMissing: 'skip' } as const];
  const plan = planMounts({ kind: 'restricted', rules, hidden: [] }, snapshotDisk());
  const hidden = withoutKernelMounts(plan).mounts.map(({ path }) => path);
  expect(hidden.filter((path) => /^\/(proc|sys|dev)(\/|$)/.test(path))).toEqual([]);
});

import { type HeldView, hostView } from '../plan/file-view.js';
import type { Sandbox } from '../../../protocol/index.js';
import { policyOfRequest, type SandboxPolicy } from '../../../policy/internal.js';
import { statOf, trustedPath } from '../../kernel/index.js';
import { Resources } from '../bwrap/resources.js';
import { planNow } from '../plan/known-plans.js';
import { withMountPoints } from '../plan/mount-points.js';
import { managedPolicy } from './managed-policy.js';
import { noteNetworkGrant } from './network-grant.js';
import { pauseTree } from './paused-tree.js';
import { Protection } from './protection.js';
import type { ChildKeeping, StoppedSandbox } from '../../spawn/index.js';
import { SandboxStatus } from './status.js';

/** What we know about a sandbox that another server made. */
export interface KeptSandbox {
  readonly sandbox: Sandbox;
  readonly cwd: string;
  readonly temporary: string | null;
  readonly terminal: boolean;
  /** The first process inside. */
  readonly initPid: number;
  /** Of bubblewrap, which is the process we started. */
  readonly bwrapPid: number;
  /** Where bubblewrap reports. We take ownership. */
  readonly status: number;
  /** It is in a network of its own, whatever its policy says about networks. */
  readonly isManaged: boolean;
  /** The files it sees, if its changes are held. */
  readonly held: HeldView | undefined;
  readonly keeping: ChildKeeping;
  /** The server before had stopped everything inside. */
  readonly stopped: StoppedSandbox | undefined;
}

/**
 * Continues to guard a sandbox. Its protection continues: mounts that were lost while no server watched are restored, or the
 * sandbox is ended.
 */
export function adoptSandbox(kept: KeptSandbox): { policy: SandboxPolicy; status: SandboxStatus } {
  const { sandbox, cwd, temporary, terminal, initPid, bwrapPid, isManaged, held, keeping, stopped } = kept;
  const asked = policyOfRequest(sandbox, { cwd, temporary: temporary ?? undefined });
  const policy = isManaged ? managedPolicy(asked, { enter: [] }) : asked;
  if (policy.kind === 'open') throw new Error('its policy asks for no sandbox');
  // Before it can reach a listener of ours.
  if (policy.network === 'enabled') noteNetworkGrant();
  const view = held ?? hostView;
  const resources = new Resources(view);
  const isRunning = statOf(initPid)?.parent === bwrapPid;
  const options = isRunning ? { terminal, initPid } : { terminal };
  const status = resources.belongTo(new SandboxStatus(kept.status, options));
  if (!isRunning) return { policy, status };
  const { plan: files, disk } = planNow(policy.files, view);
  trustedPath().distrust(files.accessAt);
  const plan = held ? withMountPoints(files, held) : files;
  const hold: Parameters<typeof Protection.of>[0]['hold'] = (next) => resources.holdPlaceholders(next);
  const guarded = { files: policy.files, plan: hold(plan), disk, view, status, hold, keeping, stopped };
  const protection = Protection.of(guarded);
  resources.guard(protection);
  if (protection) protection.check();
  else if (stopped) pauseTree(status, initPid, stopped)?.resume();
  return { policy, status };
}

import { hostView } from '../plan/file-view.js';
import type { Sandbox } from '../../../protocol/index.js';
import { policyOfRequest, type SandboxPolicy } from '../../../policy/internal.js';
import { statOf, trustedPath } from '../../kernel/index.js';
import { Resources } from '../bwrap/resources.js';
import { planNow } from '../plan/known-plans.js';
import { noteNetworkGrant } from './network-grant.js';
import { Protection } from './protection.js';
import { SandboxStatus } from './status.js';

/** What is known of a sandbox that another server has made. */
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
}

/**
 * Continues to guard a sandbox. What was protected when it was made is protected from now on as well: mounts that were
 * lost while nobody watched are restored, or the sandbox is ended.
 */
export function adoptSandbox(kept: KeptSandbox): { policy: SandboxPolicy; status: SandboxStatus } {
  const { sandbox, cwd, temporary, terminal, initPid, bwrapPid } = kept;
  const policy = policyOfRequest(sandbox, { cwd, temporary: temporary ?? undefined });
  if (policy.kind === 'open') throw new Error('its policy asks for no sandbox');
  // Before it can reach a listener of ours.
  if (policy.network === 'enabled') noteNetworkGrant();
  const resources = new Resources();
  const isRunning = statOf(initPid)?.parent === bwrapPid;
  const options = isRunning ? { terminal, initPid } : { terminal };
  const status = resources.belongTo(new SandboxStatus(kept.status, options));
  if (!isRunning) return { policy, status };
  const { plan, disk } = planNow(policy.files);
  trustedPath().distrust(plan.accessAt);
  const hold: Parameters<typeof Protection.of>[0]['hold'] = (next) => resources.holdPlaceholders(next);
  const { files } = policy;
  const protection = Protection.of({ files, plan: hold(plan), disk, view: hostView, status, hold });
  resources.guard(protection);
  protection?.check();
  return { policy, status };
}

import { type ChangeSets, machineInfo, managesNetwork, sandboxSupport } from '../host/index.js';
import type { ExecResult } from '../protocol/index.js';
import { codexCapabilities } from './capabilities.js';

type EnvironmentInfo = ExecResult<'environment/info'>;

/** What a client learns about this machine in the handshake. */
export async function environmentInfo({ http }: { http: boolean }): Promise<EnvironmentInfo> {
  const { available: sandbox } = await sandboxSupport();
  const networkProxy = await managesNetwork();
  return { ...machineInfo(), capabilities: codexCapabilities({ http, sandbox, networkProxy }) };
}

const NO_PLACE = 'Give the server a directory for held changes: --changes-dir.';

/** Which policies this machine can enforce, probed once by trying. */
export async function sandboxSummary(changes: ChangeSets | null): Promise<EnvironmentInfo['sandbox']> {
  const support = await sandboxSupport();
  const { level } = support;
  if (!support.available) return { level, hint: support.hint };
  const holds = await changes?.support();
  const held = holds?.available ? { available: true } : { available: false, hint: holds?.hint ?? NO_PLACE };
  return { level, maxProcesses: support.processLimit, changes: held };
}

import { machineInfo, managesNetwork, sandboxSupport } from '../host/index.js';
import type { ExecResult } from '../protocol/index.js';
import { codexCapabilities } from './capabilities.js';

type EnvironmentInfo = ExecResult<'environment/info'>;

/** What a client learns about this machine in the handshake. */
export async function environmentInfo({ http }: { http: boolean }): Promise<EnvironmentInfo> {
  const { available: sandbox } = await sandboxSupport();
  const networkProxy = await managesNetwork();
  return { ...machineInfo(), capabilities: codexCapabilities({ http, sandbox, networkProxy }) };
}

/** Which policies this machine can enforce, probed once by trying. */
export async function sandboxSummary(): Promise<EnvironmentInfo['sandbox']> {
  const support = await sandboxSupport();
  const { level } = support;
  return support.available ? { level, maxProcesses: support.processLimit } : { level, hint: support.hint };
}

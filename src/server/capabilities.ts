import { limitsAvailable, snapshotsAvailable, STDIN_WINDOW_BYTES } from '../host/index.js';
import type { ServerCapabilities } from '../protocol/index.js';

/** The Codex capabilities this server implements. Clients treat an absent one as false. */
export function codexCapabilities(options: {
  http: boolean;
  sandbox: boolean;
  networkProxy: boolean;
}): Record<string, boolean> {
  return {
    fsWatchMissing: true,
    fileWriteStreaming: true,
    environmentConfigRead: true,
    capabilityDiscoveryV2: true,
    ...(snapshotsAvailable() ? { shellSnapshotV2: true } : {}),
    ...(options.http ? { httpHeaderEnvVars: true } : {}),
    ...(options.sandbox ? SANDBOX_CAPABILITIES : {}),
    ...(options.networkProxy ? { networkProxyLaunch: true, networkProxyReviewDomains: true } : {}),
  };
}

/** True wherever a policy can be enforced at all. */
const SANDBOX_CAPABILITIES = {
  sandboxedFileStreaming: true,
  capabilityDiscoverySandbox: true,
  /** Denied paths stay denied when the user approves making everything else writable… */
  linuxApprovedRootWritePreservesRestrictions: true,
  /** …and such a process gets a /dev of its own. */
  linuxRootWritePreservesDevices: true,
};

/** What this server offers beyond Codex's protocol. */
export function offeredCapabilities(options: {
  flowControl: boolean;
  windowBytes: number;
  binaryFrames: boolean;
  ahead: boolean;
  leases: boolean;
  shares: boolean;
  networkRules: boolean;
  ports: boolean;
  upgrade: boolean;
  changes: boolean;
  spool: { readonly processBytes: number; readonly totalBytes: number } | null;
}): ServerCapabilities {
  return {
    processResize: true,
    processCloseStdin: true,
    processList: true,
    serverProcesses: true,
    processDetails: true,
    processInspect: true,
    processSignals: true,
    stdinWindow: { windowBytes: STDIN_WINDOW_BYTES },
    serverSignals: true,
    startAtHome: true,
    processUsage: process.platform === 'linux',
    processLimits: limitsAvailable(),
    startSize: true,
    startTimeout: true,
    terminateGrace: true,
    fsRename: true,
    fsWatch: true,
    fsSearch: true,
    fsAtomicWrite: true,
    fsPlacement: true,
    fsLinksAndTimes: true,
    fsDirectoryDetails: true,
    sessionEnd: true,
    usage: true,
    processLines: true,
    ...(options.spool
      ? {
          spool: { processBytes: options.spool.processBytes, totalBytes: options.spool.totalBytes },
          history: true,
        }
      : {}),
    ...(options.binaryFrames ? { binaryFrames: true } : {}),
    ...(options.leases ? { leases: true, viewers: true } : {}),
    ...(options.shares ? { shares: true, sessionViewers: true } : {}),
    ...(options.networkRules ? { networkRules: true, networkAsk: true } : {}),
    ...(options.ports ? { ports: true } : {}),
    ...(options.upgrade ? { upgrade: true } : {}),
    ...(options.changes ? { changes: true } : {}),
    ...(options.ahead ? { ahead: true } : {}),
    ...(options.flowControl ? { flowControl: { windowBytes: options.windowBytes } } : {}),
  };
}

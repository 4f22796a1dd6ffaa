import type { ServerCapabilities } from '../protocol/index.js';

/** The peer's capability names this server lives up to; clients read an absent one as false. */
export function peerCapabilities(): Record<string, boolean> {
  return {};
}

/** What this server offers beyond the peer's protocol. */
export function offeredCapabilities(options: {
  flowControl: boolean;
  windowBytes: number;
}): ServerCapabilities {
  return {
    processResize: true,
    processCloseStdin: true,
    processList: true,
    serverProcesses: true,
    processSignals: true,
    startSize: true,
    startTimeout: true,
    terminateGrace: true,
    ...(options.flowControl ? { flowControl: { windowBytes: options.windowBytes } } : {}),
  };
}

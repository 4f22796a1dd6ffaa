import { z } from 'zod';
import { notification, request } from '../method.js';
import { Unsigned } from './common.js';
import { EnvironmentInfo, NoParams } from './environment.js';

/** What a client supports beyond Codex’s protocol. Absent means false. */
export const ClientCapabilities = z.object({
  flowControl: z
    .boolean()
    .optional()
    .meta({ description: 'The client sends `process/ack`; unacknowledged output is kept for it.' }),
  binaryFrames: z.boolean().optional().meta({
    description: 'The client accepts binary frames, with bulky members as bytes instead of base64.',
  }),
  ahead: z
    .boolean()
    .optional()
    .meta({ description: 'The client may send requests after `initialize` before it is answered.' }),
  networkAsk: z.boolean().optional().meta({
    description: 'The client answers `network/policyRequest` for starts with `ask` in their `networkRules`.',
  }),
});

/** What this server offers beyond Codex’s protocol. A client must treat an absent name as not offered. */
export const ServerCapabilities = z.object({
  processResize: z.boolean().optional(),
  processCloseStdin: z.boolean().optional(),
  processList: z.boolean().optional(),
  serverProcesses: z.boolean().optional().meta({
    description: '`scope` in `process/list` and `sessionId` in `process/terminate`.',
  }),
  processDetails: z.boolean().optional().meta({ description: '`details` in `process/list`.' }),
  sessionViewers: z.boolean().optional().meta({
    description: '`sessionId` in `process/attach`: view processes that other sessions of this client own.',
  }),
  processInspect: z.boolean().optional(),
  processSignals: z
    .boolean()
    .optional()
    .meta({ description: 'Every POSIX signal by name in `process/signal`.' }),
  stdinWindow: z.object({ windowBytes: Unsigned }).optional().meta({
    description:
      '`after` in `process/write` and `process/closeStdin`: how much unanswered input of a process may be in flight.',
  }),
  serverSignals: z.boolean().optional().meta({ description: '`sessionId` in `process/signal`.' }),
  startAtHome: z.boolean().optional().meta({ description: '`startAtHome` in `process/start`.' }),
  processUsage: z.boolean().optional().meta({
    description: '`reportUsage` in `process/start`, and `usage` in the details of `process/list`.',
  }),
  processLimits: z.boolean().optional().meta({ description: '`limits` in `process/start`.' }),
  startSize: z.boolean().optional().meta({ description: '`size` in `process/start`.' }),
  startTimeout: z.boolean().optional().meta({ description: '`timeoutMs` in `process/start`.' }),
  terminateGrace: z.boolean().optional().meta({ description: '`graceMs` in `process/terminate`.' }),
  fsRename: z.boolean().optional(),
  fsWatch: z.boolean().optional().meta({ description: '`fs/watch`, `fs/unwatch` and `fs/changed`.' }),
  fsSearch: z.boolean().optional(),
  fsAtomicWrite: z.boolean().optional().meta({ description: '`atomic` in `fs/writeFile`.' }),
  fsPlacement: z.boolean().optional().meta({
    description:
      '`permissions` in `fs/writeFile`, `fs/createDirectory` and `fs/open`, `exclusive` in `fs/writeFile`, `details` in `fs/getMetadata`, `continue` in `fs/open`, `renameTo` in `fs/close`.',
  }),
  fsLinksAndTimes: z.boolean().optional().meta({
    description:
      '`fs/createSymlink`, `modifiedAtUs` in `fs/writeFile`, `fs/createDirectory` and `fs/close`, `keepTimes` in `fs/copy`, `modifiedAtUs` and `link` in `details`.',
  }),
  networkRules: z.boolean().optional().meta({
    description:
      '`networkRules` in a sandbox, and `networkDenied` wherever the end of a process is reported.',
  }),
  ports: z.boolean().optional().meta({
    description: '`port/list`, `port/watch`, `port/connect` and the related methods and notifications.',
  }),
  networkAsk: z.boolean().optional().meta({
    description: '`ask` in `networkRules`, and `remember` in the answer to `network/policyRequest`.',
  }),
  fsDirectoryDetails: z.boolean().optional().meta({ description: '`details` in `fs/readDirectory`.' }),
  binaryFrames: z.boolean().optional().meta({
    description:
      'Present if the client announced it and the transport carries bytes: both sides may send binary frames.',
  }),
  ahead: z
    .boolean()
    .optional()
    .meta({
      description:
        'Present if the client announced it: `cwd` may be absent in `process/start`, and requests after a refused ' +
        '`initialize` are refused without ending the connection.',
    }),
  spool: z.object({ processBytes: Unsigned, totalBytes: Unsigned }).optional().meta({
    description:
      '`retain` and `onSlowReader` in `process/start`: how much output is kept on disk per process and in total.',
  }),
  history: z.boolean().optional().meta({ description: '`process/history`.' }),
  leases: z.boolean().optional().meta({
    description: '`lease` in `process/start`, `process/attach`, `process/detach` and `process/wait`.',
  }),
  processLines: z.boolean().optional().meta({
    description: '`process/search`, `process/lines`, and `sinceMs` in `process/read`.',
  }),
  shares: z.boolean().optional().meta({
    description: '`process/share`, `process/shares` and `process/unshare`.',
  }),
  viewers: z.boolean().optional().meta({
    description: '`keyboard`, `tail` and `screen` in `process/attach`, and `process/keyboard`.',
  }),
  usage: z.boolean().optional().meta({ description: '`environment/usage`.' }),
  upgrade: z.boolean().optional().meta({
    description: '`server/upgrade` and `server/status`: programs outlive the server.',
  }),
  changes: z.boolean().optional().meta({
    description:
      '`changes`, `changesId` and `changesLease` in a sandbox, `changes/*`, and `changesFull` in `process/exited`, `process/read` and `process/wait`.',
  }),
  sessionEnd: z.boolean().optional().meta({ description: 'The notification `session/end`.' }),
  flowControl: z.object({ windowBytes: Unsigned }).optional().meta({
    description: 'Present if the client announced it: how much unacknowledged output may be in flight.',
  }),
});
export type ServerCapabilities = z.output<typeof ServerCapabilities>;
export type ClientCapabilities = z.input<typeof ClientCapabilities>;

export const initialize = request({
  doc: 'Opens a session, or resumes one that lost its connection. Must be the first request of a connection.',
  params: z.object({
    clientName: z.string().meta({ description: 'For the server’s log. May be empty.' }),
    resumeSessionId: z
      .string()
      .nullish()
      .meta({ description: 'The session to resume; absent or null opens a new one.' }),
    capabilities: ClientCapabilities.nullish(),
  }),
  result: z.object({
    sessionId: z.string(),
    environmentInfo: EnvironmentInfo.optional(),
    capabilities: ServerCapabilities.optional(),
  }),
  viewing: 'process',
});

export const sessionEnd = notification({
  doc: 'The client will not return: the session ends immediately with everything it owns, instead of waiting to be resumed.',
  extension: 'sessionEnd',
  params: z.union([NoParams, z.looseObject({})]),
});

export const initialized = notification({
  doc: 'Completes the handshake. Requests are accepted from here on.',
  params: z.union([NoParams, z.looseObject({})]),
});

import { z } from 'zod';
import { notification, request } from '../method.js';
import { Unsigned } from './common.js';
import { EnvironmentInfo, NoParams } from './environment.js';

/** What a client understands beyond Codex’s protocol. Absent means no. */
export const ClientCapabilities = z.object({
  flowControl: z
    .boolean()
    .optional()
    .meta({ description: 'The client sends `process/ack`; output it has not acknowledged is kept for it.' }),
  binaryFrames: z
    .boolean()
    .optional()
    .meta({ description: 'The client reads binary frames: bulky members as bytes instead of base64.' }),
  ahead: z
    .boolean()
    .optional()
    .meta({ description: 'The client may send requests behind `initialize` before it is answered.' }),
});

/** What this server offers beyond Codex’s protocol. A client must treat an absent name as not offered. */
export const ServerCapabilities = z.object({
  processResize: z.boolean().optional(),
  processCloseStdin: z.boolean().optional(),
  processList: z.boolean().optional(),
  serverProcesses: z.boolean().optional().meta({
    description: '`scope` in `process/list` and `sessionId` in `process/terminate`.',
  }),
  processInspect: z.boolean().optional(),
  processSignals: z
    .boolean()
    .optional()
    .meta({ description: 'Every POSIX signal by name in `process/signal`.' }),
  stdinWindow: z.object({ windowBytes: Unsigned }).optional().meta({
    description:
      '`after` in `process/write` and `process/closeStdin`: how much unanswered input of a process may be on its way.',
  }),
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
  fsDirectoryDetails: z.boolean().optional().meta({ description: '`details` in `fs/readDirectory`.' }),
  binaryFrames: z.boolean().optional().meta({
    description:
      'Present when the client announced it and the transport carries bytes: both sides may send them.',
  }),
  ahead: z
    .boolean()
    .optional()
    .meta({
      description:
        'Present when the client announced it: `cwd` may be absent in `process/start`, and what comes behind a refused ' +
        '`initialize` is refused without ending the connection.',
    }),
  sessionEnd: z.boolean().optional().meta({ description: 'The notification `session/end`.' }),
  flowControl: z.object({ windowBytes: Unsigned }).optional().meta({
    description: 'Present when the client asked for it: how much unacknowledged output is on its way.',
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
      .meta({ description: 'The session to take up again; absent or null opens a new one.' }),
    capabilities: ClientCapabilities.nullish(),
  }),
  result: z.object({
    sessionId: z.string(),
    environmentInfo: EnvironmentInfo.optional(),
    capabilities: ServerCapabilities.optional(),
  }),
});

export const sessionEnd = notification({
  doc: 'The client is done for good: the session ends at once with everything it owns, instead of waiting for a resume.',
  extension: 'sessionEnd',
  params: z.union([NoParams, z.looseObject({})]),
});

export const initialized = notification({
  doc: 'Ends the handshake. Requests are answered from here on.',
  params: z.union([NoParams, z.looseObject({})]),
});

import { type ExitFacts, exitFacts, type OutputStream } from '../../contract/index.js';
import { decodeBase64, execServerNotifications } from '../../protocol/index.js';
import type { Attachment } from '../../rpc/index.js';

/** An entry of the server's process log on its way into the local copy. */
export type WireEvent =
  | {
      readonly type: 'output';
      readonly seq: number;
      readonly stream: OutputStream;
      readonly bytes: Uint8Array;
    }
  | { readonly type: 'exited'; readonly seq: number; readonly facts: ExitFacts }
  | { readonly type: 'closed'; readonly seq: number }
  /** Entries from `seq` up to but excluding `beforeSeq` are gone. */
  | {
      readonly type: 'gap';
      readonly seq: number;
      readonly beforeSeq: number;
      readonly lostBytes: number;
    };

/** Parses a notification about a process. Returns undefined for other notifications; throws if it is malformed. */
export function readNotification(
  method: string,
  params: unknown,
  attached?: Attachment,
): WireEvent | undefined {
  if (method === 'process/output') {
    const { params: schema, bytes: bulky } = execServerNotifications[method];
    const { seq, stream, [bulky.params]: chunk } = schema.parse(params);
    const isApart = attached?.field === bulky.params;
    const bytes = isApart ? attached.bytes : decodeBase64(chunk, 'protocolViolation');
    return { type: 'output', seq, stream, bytes };
  }
  if (method === 'process/exited') {
    const exited = execServerNotifications[method].params.parse(params);
    return { type: 'exited', seq: exited.seq, facts: exitFacts(exited) };
  }
  if (method === 'process/closed') {
    const { seq } = execServerNotifications[method].params.parse(params);
    return { type: 'closed', seq };
  }
  return undefined;
}

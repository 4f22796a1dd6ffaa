import type { OutgoingMessage } from '../channel.js';
import { encodeBase64 } from '../../protocol/base64.js';
import { binaryMessage } from '../binary-frame.js';
import { frameHeader, notificationText } from '../message.js';
import type { ByteStream, StreamLine } from './byte-stream.js';
import type { LineAccount } from '../line-account.js';

/** The names of a stream's messages, and of the member that holds its bytes. */
export interface StreamMethods {
  readonly data: string;
  readonly ack: string;
  readonly reset: string;
  readonly chunk: string;
}

/** The parts of a connection that streams need. */
export interface StreamCarrier {
  readonly account: LineAccount;
  /** The other side accepts binary frames. */
  readonly sendsBytes: boolean;
  send(message: OutgoingMessage): void;
  schedule(stream: ByteStream): void;
  remove(stream: ByteStream): void;
}

/** Connects one stream to a connection that it shares with others. */
export function streamLine(streamId: string, carrier: StreamCarrier, methods: StreamMethods): StreamLine {
  const { data, ack, reset, chunk } = methods;
  const notify = (method: string, params: object): void =>
    carrier.send(notificationText(method, { streamId, ...params }));
  return {
    account: carrier.account,
    send: ({ offset, bytes, end }) => {
      const params = end ? { streamId, offset, end } : { streamId, offset };
      if (!carrier.sendsBytes) return notify(data, { ...params, [chunk]: encodeBase64(bytes) });
      carrier.send(binaryMessage(frameHeader(notificationText(data, params), chunk), bytes));
    },
    acknowledge: (offset) => notify(ack, { offset }),
    reset: (failure) => notify(reset, failure),
    schedule: (stream) => carrier.schedule(stream),
    remove: (stream) => carrier.remove(stream),
  };
}

import type { Channel } from '../../rpc/index.js';
import { type Ciphers, Responder } from '../noise/handshake.js';
import { UnfinishedMessages } from '../../transport/unfinished-messages.js';
import { encodeKey, type KeyPair } from '../noise/key-pair.js';
import type { MlKem } from '../noise/ml-kem.js';
import { NoiseChannel, PROTOCOL_ERROR } from '../noise/noise-channel.js';
import { isSameKey, type PublicKey } from '../public-key.js';
import type { RegistryCalls } from '../registry-calls.js';
import type { Line } from '../relay/line.js';
import { encodeFrame, type RelayFrame } from '../relay/relay-frame.js';
import { SharedReading } from '../relay/shared-reading.js';

/** The same limits as Codex's. */
const MAX_STREAMS = 128;
const MAX_PENDING = 32;
const MAX_AUTHORIZATION_BYTES = 4096;
/** Refusals the router has not read yet. Beyond this, streams are refused without an answer. */
const MAX_UNSENT_RESETS = 64;

/** Serves the client at the other end of a channel. */
export type Accept = (channel: Channel, options: { principal?: string; probe: () => void }) => unknown;

export interface StreamTableOptions {
  readonly line: Line;
  readonly kem: MlKem;
  readonly own: KeyPair;
  readonly environmentId: string;
  readonly registrationId: string;
  readonly calls: RegistryCalls;
  readonly accept: Accept;
  /** How much of messages that have not ended is kept, of all streams together. */
  readonly maxUnfinishedBytes?: number | undefined;
}

interface Stream {
  readonly key: PublicKey;
  readonly order: number;
  /** Null until the registry has confirmed the client. */
  channel: NoiseChannel | null;
}

/** The streams of all clients on one line. */
export class StreamTable {
  readonly #options: StreamTableOptions;
  readonly #streams = new Map<string, Stream>();
  readonly #reading: SharedReading<string>;
  readonly #unfinished: UnfinishedMessages;
  #pending = 0;
  #unsentResets = 0;
  #count = 0;

  constructor(options: StreamTableOptions) {
    this.#options = options;
    const { line } = options;
    this.#unfinished = new UnfinishedMessages(options.maxUnfinishedBytes);
    this.#reading = new SharedReading({
      pause: () => line.pause(),
      resume: () => line.resume(),
      streams: () => this.#streams.size,
      evict: (streamId) => this.#streams.get(streamId)?.channel?.destroy('too much is unread'),
    });
  }

  receive({ streamId, body }: RelayFrame): void {
    const stream = this.#streams.get(streamId);
    if (body.kind === 'handshake') {
      if (!stream) return void this.#welcome(streamId, body.payload);
      this.#drop(streamId, PROTOCOL_ERROR);
    } else if (body.kind === 'data') {
      if (stream?.channel) stream.channel.receive(body.seq, body.payload);
      else this.#drop(streamId, PROTOCOL_ERROR);
    } else if (body.kind === 'reset') {
      this.#streams.delete(streamId);
      stream?.channel?.lose('the other side has ended the stream');
    }
  }

  /** Call when the line is gone. */
  close(): void {
    this.#reading.close();
    for (const { channel } of [...this.#streams.values()])
      channel?.lose('the connection to the router is lost');
    this.#streams.clear();
  }

  async #welcome(streamId: string, hello: Uint8Array): Promise<void> {
    if (this.#streams.size >= MAX_STREAMS || this.#pending >= MAX_PENDING)
      return this.#drop(streamId, 'too_many_streams');
    const responder = this.#read(streamId, hello);
    if (!responder) return this.#drop(streamId, PROTOCOL_ERROR);
    const stream: Stream = { key: encodeKey(responder.other), order: ++this.#count, channel: null };
    this.#streams.set(streamId, stream);
    this.#pending += 1;
    const verdict = await this.#verdict(streamId, stream, responder.payload).finally(
      () => (this.#pending -= 1),
    );
    // The client may have left in the meantime, or even come back.
    if (this.#streams.get(streamId) !== stream) return;
    if (!verdict.valid) return this.#drop(streamId, 'unauthorized');
    try {
      const { message, ciphers } = responder.answer();
      this.#options.line.send(encodeFrame({ streamId, body: { kind: 'handshake', payload: message } }));
      this.#open(streamId, { stream, ciphers, client: verdict.client });
    } catch {
      // The client sent invalid keys.
      this.#drop(streamId, PROTOCOL_ERROR);
    }
  }

  #read(streamId: string, hello: Uint8Array): Responder | null {
    try {
      const { environmentId, registrationId, kem, own } = this.#options;
      const meeting = { environmentId, registrationId, streamId };
      const responder = new Responder({ kem, own, meeting }, hello);
      return responder.payload.length > MAX_AUTHORIZATION_BYTES ? null : responder;
    } catch {
      return null;
    }
  }

  /** If the registry cannot be asked, the client is not admitted. */
  async #verdict(
    streamId: string,
    { key }: Stream,
    payload: Uint8Array,
  ): Promise<{ valid: boolean; client?: string | undefined }> {
    const { calls, registrationId } = this.#options;
    const authorization = Buffer.from(payload).toString('utf8');
    try {
      return await calls.validate({ registrationId, key, authorization }, streamId);
    } catch {
      return { valid: false };
    }
  }

  #open(
    streamId: string,
    { stream, ciphers, client }: { stream: Stream; ciphers: Ciphers; client: string | undefined },
  ): void {
    const { line, accept } = this.#options;
    const channel: NoiseChannel = new NoiseChannel({
      label: `registry ${client ?? 'client'}`,
      streamId,
      ciphers,
      unfinished: this.#unfinished.of(() => channel.destroy('too many messages are unfinished')),
      post: (frame, flushed) => line.send(frame, flushed),
      hold: () => this.#reading.hold(streamId),
      release: () => this.#reading.release(streamId),
      ended: () => {
        if (this.#streams.get(streamId) === stream) this.#streams.delete(streamId);
        this.#reading.forget(streamId);
      },
    });
    stream.channel = channel;
    accept(channel, {
      ...(client === undefined ? {} : { principal: `registry:${client}` }),
      // A program keeps its key, so if it has come back, this stream is stale.
      probe: () => {
        if (this.#hasReturned(stream)) channel.destroy('the client has returned on another stream');
      },
    });
  }

  #hasReturned({ key, order }: Stream): boolean {
    return [...this.#streams.values()].some((other) => other.order > order && isSameKey(other.key, key));
  }

  #drop(streamId: string, reason: string): void {
    const stream = this.#streams.get(streamId);
    this.#streams.delete(streamId);
    stream?.channel?.lose('the stream was ended for a violation of the protocol');
    if (this.#unsentResets >= MAX_UNSENT_RESETS) return;
    this.#unsentResets += 1;
    this.#options.line.send(encodeFrame({ streamId, body: { kind: 'reset', reason } }), () => {
      this.#unsentResets -= 1;
    });
  }
}

import { type Ciphers, Initiator } from '../../src/registry/noise/handshake.js';
import { decodeKey, encodeKey, generateKeyPair } from '../../src/registry/noise/key-pair.js';
import { loadMlKem } from '../../src/registry/noise/ml-kem.js';
import { NoiseChannel } from '../../src/registry/noise/noise-channel.js';
import { PublicKey } from '../../src/registry/public-key.js';
import { decodeFrame, encodeFrame, type FrameBody } from '../../src/registry/relay/relay-frame.js';
import { type RegistrySite, TestLine } from './registry-site.js';

/** Takes a number of frames and returns what leaves instead. */
type Interception = { readonly count: number; readonly change: (frames: Buffer[]) => Buffer[] };

/** A client that can do everything right, and anything wrong. */
export class NoiseClient {
  readonly line: TestLine;
  readonly streamId: string;
  readonly channel: NoiseChannel;
  readonly #ciphers: Ciphers;
  #sealed = 0;
  #interception: Interception | undefined;
  #held: Buffer[] = [];

  private constructor(line: TestLine, streamId: string, ciphers: Ciphers) {
    this.line = line;
    this.streamId = streamId;
    this.#ciphers = ciphers;
    this.channel = new NoiseChannel({
      label: 'test',
      streamId,
      ciphers,
      post: (frame, flushed) => this.#post(Buffer.from(frame), flushed),
      hold: () => undefined,
      release: () => undefined,
      ended: () => undefined,
    });
  }

  static async connect(
    site: RegistrySite,
    { streamId, token = 'client', authorization, tamper = (bytes) => bytes }: ConnectOptions,
  ): Promise<NoiseClient> {
    const kem = await loadMlKem();
    const own = generateKeyPair(kem);
    const granted = await site.connect('a', token, encodeKey(own.public));
    const line = await TestLine.open(granted['url'] ?? '');
    const meeting = {
      environmentId: 'a',
      registrationId: granted['executor_registration_id'] ?? '',
      streamId,
    };
    const key = PublicKey.parse(granted['executor_public_key']);
    const initiator = new Initiator({ kem, own, meeting }, decodeKey(key));
    const answered = new Promise<FrameBody>((resolve) => {
      line.socket.once('message', (data: Buffer) => resolve(decodeFrame(data)?.body ?? { kind: 'other' }));
    });
    line.send(streamId, { kind: 'resume' });
    const hello = initiator.hello(Buffer.from(authorization ?? granted['harness_key_authorization'] ?? ''));
    line.send(streamId, { kind: 'handshake', payload: tamper(hello) });
    const answer = await answered;
    if (answer.kind !== 'handshake') throw new Error(answer.kind === 'reset' ? answer.reason : answer.kind);
    const client = new NoiseClient(line, streamId, initiator.finish(answer.payload));
    const { channel } = client;
    line.socket.on('message', (data: Buffer) => {
      const body = decodeFrame(data)?.body;
      if (body?.kind === 'data') channel.receive(body.seq, body.payload);
      if (body?.kind === 'reset') channel.lose(body.reason);
    });
    line.socket.once('close', () => channel.lose('the line is gone'));
    return client;
  }

  /** Sends a record that the channel knows nothing of. Not together with the channel's own. */
  seal = (record: Uint8Array): void => {
    const payload = this.#ciphers.send.encrypt(record);
    this.forge({ kind: 'data', seq: this.#sealed, payload });
    this.#sealed += 1;
  };

  /** The next frames go through `change`, all at once. */
  intercept(change: Interception['change'], count: number): void {
    this.#interception = { change, count };
  }

  #post(frame: Buffer, flushed: (() => void) | undefined): void {
    this.#held.push(frame);
    if (this.#interception && this.#held.length < this.#interception.count) return flushed?.();
    const frames = this.#interception?.change(this.#held) ?? this.#held;
    this.#interception = undefined;
    this.#held = [];
    for (const each of frames) this.line.socket.send(each);
    flushed?.();
  }

  /** Sends a frame that the channel knows nothing of. */
  forge(body: FrameBody): void {
    this.line.socket.send(encodeFrame({ streamId: this.streamId, body }));
  }
}

interface ConnectOptions {
  readonly streamId: string;
  /** Default: `client`. */
  readonly token?: string;
  /** Default: what was granted. */
  readonly authorization?: string;
  readonly tamper?: (hello: Uint8Array) => Uint8Array;
}

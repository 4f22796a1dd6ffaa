import { Initiator } from '../../src/registry/noise/handshake.js';
import { decodeKey, encodeKey, generateKeyPair } from '../../src/registry/noise/key-pair.js';
import { loadMlKem } from '../../src/registry/noise/ml-kem.js';
import { NoiseChannel } from '../../src/registry/noise/noise-channel.js';
import { PublicKey } from '../../src/registry/public-key.js';
import { decodeFrame, encodeFrame, type FrameBody } from '../../src/registry/relay/relay-frame.js';
import { type RegistrySite, TestLine } from './registry-site.js';

/** A client that can do everything right, and anything wrong. */
export class NoiseClient {
  readonly line: TestLine;
  readonly streamId: string;
  readonly channel: NoiseChannel;

  private constructor(line: TestLine, { streamId, channel }: { streamId: string; channel: NoiseChannel }) {
    this.line = line;
    this.streamId = streamId;
    this.channel = channel;
  }

  static async connect(
    site: RegistrySite,
    { streamId, authorization, tamper = (bytes) => bytes }: ConnectOptions,
  ): Promise<NoiseClient> {
    const kem = await loadMlKem();
    const own = generateKeyPair(kem);
    const granted = await site.connect('a', 'client', encodeKey(own.public));
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
    const channel = new NoiseChannel({
      label: 'test',
      streamId,
      ciphers: initiator.finish(answer.payload),
      post: (frame, flushed) => line.socket.send(frame, () => flushed?.()),
      hold: () => undefined,
      release: () => undefined,
      ended: () => undefined,
    });
    line.socket.on('message', (data: Buffer) => {
      const body = decodeFrame(data)?.body;
      if (body?.kind === 'data') channel.receive(body.seq, body.payload);
      if (body?.kind === 'reset') channel.lose(body.reason);
    });
    line.socket.once('close', () => channel.lose('the line is gone'));
    return new NoiseClient(line, { streamId, channel });
  }

  /** Sends a frame that the channel knows nothing of. */
  forge(body: FrameBody): void {
    this.line.socket.send(encodeFrame({ streamId: this.streamId, body }));
  }
}

interface ConnectOptions {
  readonly streamId: string;
  /** Default: what was granted. */
  readonly authorization?: string;
  readonly tamper?: (hello: Uint8Array) => Uint8Array;
}

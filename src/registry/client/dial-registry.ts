import { randomUUID } from 'node:crypto';
import { ExecError } from '../../protocol/errors.js';
import { after } from '../../protocol/max-timer.js';
import type { Channel } from '../../rpc/index.js';
import { dialLine } from '../dial-line.js';
import { Initiator } from '../noise/handshake.js';
import { decodeKey, encodeKey, generateKeyPair, type KeyPair } from '../noise/key-pair.js';
import { loadMlKem, type MlKem } from '../noise/ml-kem.js';
import { NoiseChannel } from '../noise/noise-channel.js';
import { CallFailure, type Granted, RegistryCalls, type RegistryPlace } from '../registry-calls.js';
import type { Line } from '../relay/line.js';
import { encodeFrame } from '../relay/relay-frame.js';

const HANDSHAKE_MS = 10_000;
const NORMAL = 1000;

interface Identity {
  readonly kem: MlKem;
  readonly own: KeyPair;
}

/** Shared by all connections of this program, so that a machine recognizes it when it comes back. */
let identity: Promise<Identity> | undefined;

async function createIdentity(): Promise<Identity> {
  const kem = await loadMlKem();
  return { kem, own: generateKeyPair(kem) };
}

/** Connects to a machine through a registry, encrypted end to end. */
export async function dialRegistry(place: RegistryPlace): Promise<Channel> {
  try {
    identity ??= createIdentity();
    const { kem, own } = await identity;
    const granted = await new RegistryCalls(place).connect(encodeKey(own.public));
    return await shakeHands(await dialLine(granted.url), { kem, own, granted });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const status = cause instanceof CallFailure ? cause.status : undefined;
    const data = status === undefined ? {} : { status };
    throw new ExecError('notConnected', `Cannot connect to ${place.environmentId}: ${why}`, { data, cause });
  }
}

function shakeHands(line: Line, { kem, own, granted }: Identity & { granted: Granted }): Promise<Channel> {
  const streamId = randomUUID();
  const { environment_id: environmentId, executor_registration_id: registrationId } = granted;
  const meeting = { environmentId, registrationId, streamId };
  const initiator = new Initiator({ kem, own, meeting }, decodeKey(granted.executor_public_key));
  return new Promise((resolve, reject) => {
    let channel: NoiseChannel | undefined;
    const fail = (why: string): void => {
      stop();
      reject(new CallFailure(why));
      line.close('the handshake has failed', NORMAL);
    };
    const stop = after(HANDSHAKE_MS, () => fail('The machine does not answer.'));
    line.open({
      frame: ({ body }) => {
        if (body.kind === 'data') channel?.receive(body.seq, body.payload);
        else if (body.kind === 'reset' && channel) channel.lose('the machine has ended the stream');
        else if (body.kind === 'reset') fail('The machine refused this client.');
        else if (body.kind === 'handshake' && !channel) {
          try {
            channel = channelOn(line, streamId, initiator.finish(body.payload));
          } catch {
            return fail('The machine is not the one that the registry vouches for.');
          }
          stop();
          resolve(channel);
        }
      },
      closed: () => {
        if (channel) channel.lose('the connection to the router is lost');
        else fail('The router ended the connection.');
      },
    });
    line.send(encodeFrame({ streamId, body: { kind: 'resume' } }));
    const payload = initiator.hello(Buffer.from(granted.harness_key_authorization));
    line.send(encodeFrame({ streamId, body: { kind: 'handshake', payload } }));
  });
}

function channelOn(line: Line, streamId: string, ciphers: ReturnType<Initiator['finish']>): NoiseChannel {
  return new NoiseChannel({
    label: 'registry',
    streamId,
    ciphers,
    post: (frame, flushed) => line.send(frame, flushed),
    // The line carries nothing else.
    hold: () => line.pause(),
    release: () => line.resume(),
    ended: () => line.close('the stream has ended', NORMAL),
  });
}

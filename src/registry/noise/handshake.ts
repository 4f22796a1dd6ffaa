import { MLKEM_KEY_BYTES, X25519_KEY_BYTES } from '../public-key.js';
import { type CipherState, TAG_BYTES } from './cipher-state.js';
import { agree, generateKeyPair, type KeyPair, type PublicBytes } from './key-pair.js';
import { type MlKem, MLKEM_CIPHERTEXT_BYTES } from './ml-kem.js';
import { SymmetricState } from './symmetric-state.js';

const PROTOCOL_NAME = 'Noise_hybridIK_25519+MLKEM768_AESGCM_SHA256';
const PROLOGUE_NAME = 'codex-exec-server-relay-noise/v1';

/** The context both sides must agree on. A handshake meant for another context fails. */
export interface Meeting {
  readonly environmentId: string;
  readonly registrationId: string;
  readonly streamId: string;
}

/** The keys of an established channel. */
export interface Ciphers {
  readonly send: CipherState;
  readonly receive: CipherState;
}

interface Side {
  readonly kem: MlKem;
  readonly own: KeyPair;
  readonly meeting: Meeting;
}

/**
 * The connecting side. It knows the other side's key in advance.
 *
 *     ← s
 *     → skem, e, es, s, ss
 *     ← ekem, skem, e, ee, se
 */
export class Initiator {
  readonly #side: Side;
  readonly #other: PublicBytes;
  readonly #ephemeral: KeyPair;
  readonly #state: SymmetricState;

  constructor(side: Side, other: PublicBytes) {
    this.#side = side;
    this.#other = other;
    this.#ephemeral = generateKeyPair(side.kem);
    this.#state = begin(side.meeting, other);
  }

  /** The first message. Only the other side can read the payload. */
  hello(payload: Uint8Array): Buffer {
    const [state, { own, kem }] = [this.#state, this.#side];
    const skem = sendStaticKem(state, kem, this.#other);
    const e = sendEphemeral(state, this.#ephemeral);
    state.mixKey(agree(this.#ephemeral, this.#other.x25519));
    const s = [state.encryptAndHash(own.public.x25519), state.encryptAndHash(own.public.mlkem)];
    state.mixKey(agree(own, this.#other.x25519));
    return Buffer.concat([skem, ...e, ...s, state.encryptAndHash(payload)]);
  }

  /** Reads the answer. Throws if it does not come from the other side. */
  finish(message: Uint8Array): Ciphers {
    const [state, { own, kem }, parts] = [this.#state, this.#side, new Parts(message)];
    const ekem = parts.take(MLKEM_CIPHERTEXT_BYTES);
    state.mixHash(ekem);
    state.mixKey(kem.decapsulate(ekem, this.#ephemeral.mlkem));
    receiveStaticKem(state, kem, { parts, own });
    const ephemeral = receiveEphemeral(state, parts);
    state.mixKey(agree(this.#ephemeral, ephemeral.x25519));
    state.mixKey(agree(own, ephemeral.x25519));
    if (state.decryptAndHash(parts.rest()).length > 0) throw new RangeError('the answer has a payload');
    const [send, receive] = state.split();
    return { send, receive };
  }
}

/** The accepting side. It learns the other side's key from the first message, then decides. */
export class Responder {
  readonly #side: Side;
  readonly #state: SymmetricState;
  readonly #ephemeral: PublicBytes;
  /** The key of the other side. */
  readonly other: PublicBytes;
  readonly payload: Uint8Array;

  /** Throws if the message is not meant for us. */
  constructor(side: Side, hello: Uint8Array) {
    const [{ own, kem }, state, parts] = [side, begin(side.meeting, side.own.public), new Parts(hello)];
    this.#side = side;
    this.#state = state;
    receiveStaticKem(state, kem, { parts, own });
    this.#ephemeral = receiveEphemeral(state, parts);
    state.mixKey(agree(own, this.#ephemeral.x25519));
    const x25519 = state.decryptAndHash(parts.take(X25519_KEY_BYTES + TAG_BYTES));
    const mlkem = state.decryptAndHash(parts.take(MLKEM_KEY_BYTES + TAG_BYTES));
    this.other = { x25519, mlkem };
    state.mixKey(agree(own, x25519));
    this.payload = state.decryptAndHash(parts.rest());
  }

  /** Accepts. Call once. */
  answer(): { message: Buffer; ciphers: Ciphers } {
    const [state, { kem }] = [this.#state, this.#side];
    const ephemeral = generateKeyPair(kem);
    const ekem = kem.encapsulate(this.#ephemeral.mlkem);
    state.mixHash(ekem.cipherText);
    state.mixKey(ekem.sharedSecret);
    const skem = sendStaticKem(state, kem, this.other);
    const e = sendEphemeral(state, ephemeral);
    state.mixKey(agree(ephemeral, this.#ephemeral.x25519));
    state.mixKey(agree(ephemeral, this.other.x25519));
    const end = state.encryptAndHash(new Uint8Array());
    const [receive, send] = state.split();
    return { message: Buffer.concat([ekem.cipherText, skem, ...e, end]), ciphers: { send, receive } };
  }
}

function begin({ environmentId, registrationId, streamId }: Meeting, responder: PublicBytes): SymmetricState {
  const state = new SymmetricState(PROTOCOL_NAME);
  const texts = [PROLOGUE_NAME, environmentId, registrationId, streamId].map((text) => Buffer.from(text));
  state.mixHash(Buffer.concat(texts.flatMap((text) => [lengthOf(text), text])));
  state.mixHash(responder.x25519);
  state.mixHash(responder.mlkem);
  return state;
}

function lengthOf(text: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(text.length));
  return length;
}

function sendEphemeral(state: SymmetricState, { public: { x25519, mlkem } }: KeyPair): Uint8Array[] {
  state.mixHash(x25519);
  state.mixHash(mlkem);
  return [x25519, mlkem];
}

function receiveEphemeral(state: SymmetricState, parts: Parts): PublicBytes {
  const [x25519, mlkem] = [parts.take(X25519_KEY_BYTES), parts.take(MLKEM_KEY_BYTES)];
  state.mixHash(x25519);
  state.mixHash(mlkem);
  return { x25519, mlkem };
}

function sendStaticKem(state: SymmetricState, kem: MlKem, other: PublicBytes): Uint8Array {
  const { cipherText, sharedSecret } = kem.encapsulate(other.mlkem);
  const sent = state.encryptAndHash(cipherText);
  state.mixKeyAndHash(sharedSecret);
  return sent;
}

function receiveStaticKem(state: SymmetricState, kem: MlKem, from: { parts: Parts; own: KeyPair }): void {
  const length = MLKEM_CIPHERTEXT_BYTES + (state.hasKey ? TAG_BYTES : 0);
  const cipherText = state.decryptAndHash(from.parts.take(length));
  state.mixKeyAndHash(kem.decapsulate(cipherText, from.own.mlkem));
}

/** Reads a message from its beginning to its end. */
class Parts {
  #rest: Uint8Array;

  constructor(message: Uint8Array) {
    this.#rest = message;
  }

  take(count: number): Uint8Array {
    if (this.#rest.length < count) throw new RangeError('a handshake message is too short');
    const part = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return part;
  }

  rest(): Uint8Array {
    return this.take(this.#rest.length);
  }
}

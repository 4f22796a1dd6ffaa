import { createHash, createHmac } from 'node:crypto';
import { CipherState } from './cipher-state.js';

/** The symmetric state of the Noise framework (section 5.2), with SHA-256 and AES-256-GCM. */
export class SymmetricState {
  #hash: Uint8Array;
  #chainingKey: Uint8Array;
  #cipher: CipherState | undefined;

  constructor(protocolName: string) {
    this.#hash = createHash('sha256').update(protocolName).digest();
    this.#chainingKey = this.#hash;
  }

  get hasKey(): boolean {
    return this.#cipher !== undefined;
  }

  mixHash(data: Uint8Array): void {
    this.#hash = createHash('sha256').update(this.#hash).update(data).digest();
  }

  mixKey(secret: Uint8Array): void {
    const [chainingKey, key] = this.#derive(secret);
    this.#chainingKey = chainingKey;
    this.#cipher = new CipherState(key);
  }

  mixKeyAndHash(secret: Uint8Array): void {
    const [chainingKey, hashed, key] = this.#derive(secret);
    this.#chainingKey = chainingKey;
    this.mixHash(hashed);
    this.#cipher = new CipherState(key);
  }

  /** Leaves the text in the clear while there is no key. */
  encryptAndHash(plain: Uint8Array): Uint8Array {
    const text = this.#cipher?.encrypt(plain, this.#hash) ?? plain;
    this.mixHash(text);
    return text;
  }

  decryptAndHash(text: Uint8Array): Uint8Array {
    const plain = this.#cipher?.decrypt(text, this.#hash) ?? text;
    this.mixHash(text);
    return plain;
  }

  /** The keys for the transport phase: from the initiator, and to it. */
  split(): [CipherState, CipherState] {
    const [first, second] = this.#derive(new Uint8Array());
    return [new CipherState(first), new CipherState(second)];
  }

  #derive(secret: Uint8Array): [Uint8Array, Uint8Array, Uint8Array] {
    const base = createHmac('sha256', this.#chainingKey).update(secret).digest();
    const first = createHmac('sha256', base).update(Uint8Array.of(1)).digest();
    const second = createHmac('sha256', base).update(first).update(Uint8Array.of(2)).digest();
    const third = createHmac('sha256', base).update(second).update(Uint8Array.of(3)).digest();
    return [first, second, third];
  }
}

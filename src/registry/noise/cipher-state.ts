import { createCipheriv, createDecipheriv } from 'node:crypto';

export const TAG_BYTES = 16;
const NONCE_BYTES = 12;
const ALGORITHM = 'aes-256-gcm';

/** AES-256-GCM with a counter as nonce, so that any omission, repetition or reordering is noticed. */
export class CipherState {
  readonly #key: Uint8Array;
  #counter = 0;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  encrypt(plain: Uint8Array, additional?: Uint8Array): Buffer {
    const cipher = createCipheriv(ALGORITHM, this.#key, this.#nonce());
    if (additional) cipher.setAAD(additional);
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws if it was not encrypted with this key, at this position. */
  decrypt(sealed: Uint8Array, additional?: Uint8Array): Buffer {
    const end = sealed.length - TAG_BYTES;
    if (end < 0) throw new RangeError('a sealed text is too short');
    const decipher = createDecipheriv(ALGORITHM, this.#key, this.#nonce(), { authTagLength: TAG_BYTES });
    if (additional) decipher.setAAD(additional);
    decipher.setAuthTag(sealed.subarray(end));
    return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]);
  }

  #nonce(): Buffer {
    const nonce = Buffer.alloc(NONCE_BYTES);
    nonce.writeBigUInt64BE(BigInt(this.#counter), NONCE_BYTES - 8);
    this.#counter += 1;
    return nonce;
  }
}

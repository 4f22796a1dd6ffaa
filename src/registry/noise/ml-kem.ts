/** The part of ML-KEM-768 (FIPS 203) that is needed. Sizes in bytes: public key 1184, ciphertext 1088, shared secret 32. */
export interface MlKem {
  keygen(): { publicKey: Uint8Array; secretKey: Uint8Array };
  encapsulate(publicKey: Uint8Array): { cipherText: Uint8Array; sharedSecret: Uint8Array };
  decapsulate(cipherText: Uint8Array, secretKey: Uint8Array): Uint8Array;
}

export const MLKEM_CIPHERTEXT_BYTES = 1088;

/** Loaded on demand. Only the newest releases of Node have ML-KEM built in. */
export async function loadMlKem(): Promise<MlKem> {
  return (await import('@noble/post-quantum/ml-kem.js')).ml_kem768;
}

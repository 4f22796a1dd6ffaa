import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type PublicKey, SUITE } from '../public-key.js';
import type { MlKem } from './ml-kem.js';

/** A public key as bytes. */
export interface PublicBytes {
  readonly x25519: Uint8Array;
  readonly mlkem: Uint8Array;
}

/** A key pair of each kind, so that breaking one kind is not enough. */
export interface KeyPair {
  readonly public: PublicBytes;
  readonly x25519: KeyObject;
  readonly mlkem: Uint8Array;
}

export function generateKeyPair(kem: MlKem): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const { publicKey: mlkem, secretKey } = kem.keygen();
  const x25519 = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return { public: { x25519, mlkem }, x25519: privateKey, mlkem: secretKey };
}

/** The shared secret of two X25519 keys. Throws for degenerate keys, with which it would be the same for everyone. */
export function agree(own: KeyPair, other: Uint8Array): Uint8Array {
  const x = Buffer.from(other).toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
  return diffieHellman({ privateKey: own.x25519, publicKey });
}

export function encodeKey({ x25519, mlkem }: PublicBytes): PublicKey {
  return {
    suite: SUITE,
    x25519_public_key: Buffer.from(x25519).toString('base64'),
    mlkem768_public_key: Buffer.from(mlkem).toString('base64'),
  };
}

export function decodeKey(key: PublicKey): PublicBytes {
  return {
    x25519: Buffer.from(key.x25519_public_key, 'base64'),
    mlkem: Buffer.from(key.mlkem768_public_key, 'base64'),
  };
}

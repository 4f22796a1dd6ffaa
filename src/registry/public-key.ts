import { z } from 'zod';

/** The only security profile there is, and the suite its keys belong to. */
export const SECURITY_PROFILE = 'noise_hybrid_ik_v1';
export const SUITE = 'Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256';
export const X25519_KEY_BYTES = 32;
export const MLKEM_KEY_BYTES = 1184;

/** The public key of a machine or a client, in its wire form. */
export const PublicKey = z.strictObject({
  suite: z.literal(SUITE),
  x25519_public_key: base64Of(X25519_KEY_BYTES),
  mlkem768_public_key: base64Of(MLKEM_KEY_BYTES),
});
export type PublicKey = z.output<typeof PublicKey>;

/** Canonical base64: equal bytes always have equal text. */
function base64Of(bytes: number): z.ZodType<string> {
  return z.string().refine((text) => {
    const decoded = Buffer.from(text, 'base64');
    return decoded.length === bytes && decoded.toString('base64') === text;
  }, `not ${bytes} bytes in base64`);
}

export function isSameKey(one: PublicKey, other: PublicKey): boolean {
  return (
    one.x25519_public_key === other.x25519_public_key && one.mlkem768_public_key === other.mlkem768_public_key
  );
}

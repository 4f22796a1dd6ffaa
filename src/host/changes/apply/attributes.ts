import { type BigIntStats, chmodSync, chownSync } from 'node:fs';
import type { z } from 'zod';
import {
  type Attribute,
  errnoOf,
  removeExtendedAttribute,
  setExtendedAttribute,
  setTimes,
} from '../../kernel/index.js';
import type { Handle } from '../accessible.js';
import { followedAttributes } from '../node.js';
import { storedSchema } from '../stored-schema.js';

/** Everything about a file except its content, as it can be written to a journal. */
export const attributesSchema = storedSchema((z) =>
  z.object({
    mode: z.number(),
    uid: z.number(),
    gid: z.number(),
    atimeNs: z.string(),
    mtimeNs: z.string(),
    /** Names and values, the latter as base64. */
    extended: z.array(z.tuple([z.string(), z.string()])),
  }),
);
export type Attributes = z.infer<ReturnType<typeof attributesSchema>>;

export function attributesOf(node: BigIntStats, extended: readonly Attribute[]): Attributes {
  return {
    mode: Number(node.mode) & 0o7777,
    uid: Number(node.uid),
    gid: Number(node.gid),
    atimeNs: String(node.atimeNs),
    mtimeNs: String(node.mtimeNs),
    extended: extended.map(({ name, value }) => [name, value.toString('base64')]),
  };
}

/**
 * Makes a file look like this. In this order: a new owner resets bits of the mode, the mode may forbid attributes, and
 * everything changes the times.
 */
export function setAttributes({ own, node }: Handle, wanted: Attributes): void {
  if (BigInt(wanted.uid) !== node.uid || BigInt(wanted.gid) !== node.gid)
    chownSync(own, wanted.uid, wanted.gid);
  if (!node.isSymbolicLink()) {
    setExtended(own, wanted.extended);
    chmodSync(own, wanted.mode);
  }
  setTimesOf(own, wanted);
}

export function setTimesOf(
  path: Buffer,
  { atimeNs, mtimeNs }: Pick<Attributes, 'atimeNs' | 'mtimeNs'>,
): void {
  setTimes(path, { atimeNs: BigInt(atimeNs), mtimeNs: BigInt(mtimeNs) });
}

function setExtended(path: Buffer, wanted: Attributes['extended']): void {
  const present = followedAttributes(path);
  for (const { name } of present)
    if (!wanted.some(([other]) => other === name)) removeExtendedAttribute(path, name);
  for (const [name, value] of wanted) {
    const bytes = Buffer.from(value, 'base64');
    if (present.some((each) => each.name === name && each.value.equals(bytes))) continue;
    try {
      setExtendedAttribute(path, { name, value: bytes });
    } catch (error) {
      // A file system without extended attributes cannot keep them, whoever writes.
      if (!['ENOTSUP', 'EOPNOTSUPP'].includes(errnoOf(error))) throw error;
    }
  }
}

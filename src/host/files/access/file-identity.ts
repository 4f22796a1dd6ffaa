/** Identifies one file or directory for its lifetime. */
export type Identity = string;

/** Includes the birth time, since inode numbers alone are reused immediately. */
export function identityOf(stats: { dev: bigint; ino: bigint; birthtimeNs: bigint }): Identity {
  return `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

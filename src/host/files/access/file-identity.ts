/** Names one file or directory for its life. */
export type Identity = string;

/** With the time of birth: inode numbers alone are reused at once. */
export function identityOf(stats: { dev: bigint; ino: bigint; birthtimeNs: bigint }): Identity {
  return `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

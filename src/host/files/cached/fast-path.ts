/** Set `fastPath: false` to use only what Node offers, never our own system calls. */
export interface FastPath {
  readonly fastPath?: boolean;
}

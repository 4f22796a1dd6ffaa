/** How much of the kernel is used: what Node does not offer as well, unless `instant` is false. */
export interface FastPath {
  readonly instant?: boolean;
}

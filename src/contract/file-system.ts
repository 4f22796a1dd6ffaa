/** Files of some machine. Paths are absolute, or `file:` URIs where a name has no text form. */
export interface FileSystem {
  readFile(path: string): Promise<Uint8Array>;
}

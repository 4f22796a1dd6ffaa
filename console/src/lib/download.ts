/** What a page may hold at a time while it makes a file. */
const MAX_DOWNLOAD_BYTES = 1024 * 1024 * 1024;

/** Saves bytes as a file. The name is a suggestion that cannot contain a path. */
export async function saveAs(name: string, parts: AsyncIterable<Uint8Array>): Promise<void> {
  const kept: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of parts) {
    size += part.length;
    if (size > MAX_DOWNLOAD_BYTES)
      throw new Error('This is more than a browser should hold. Use `execwire cp` or `execwire logs`.');
    kept.push(new Uint8Array(part));
  }
  const url = URL.createObjectURL(new Blob(kept, { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replaceAll(/[/\\]/g, '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

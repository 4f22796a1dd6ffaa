/** How many of the last bytes belong to a UTF-8 character that has not fully arrived. */
export function incompleteCharacterBytes(tail: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, tail.length); length += 1) {
    const byte = tail[tail.length - length] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const wanted = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte < 0xf8 && wanted > length ? length : 0;
  }
  return 0;
}

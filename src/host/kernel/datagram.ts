import { libc } from './libc.js';
import { linux } from './linux.js';

const HEADER_BYTES = 128;
/** `struct sockaddr_un`: two bytes of family, then the path. */
const ADDRESS_BYTES = 110;

/** `struct cmsghdr`, with the descriptor that follows it. */
const CONTROL_BYTES = 20;

/**
 * Sends a datagram to a unix socket, with a copy of a descriptor if one is given. A leading `@` means a name that is not in
 * the file system. Never waits.
 */
export function sendDatagram(path: string, text: string, descriptor?: number): boolean {
  const fd = libc().socket(linux.AF_UNIX, linux.SOCK_DGRAM | linux.SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  try {
    const body = Buffer.alloc(Math.max(HEADER_BYTES, Buffer.byteLength(text)));
    const length = body.write(text);
    const address = Buffer.alloc(HEADER_BYTES);
    address.writeUInt16LE(linux.AF_UNIX, 0);
    const nameLength = address.write(path, 2, ADDRESS_BYTES - 2);
    if (path.startsWith('@')) address[2] = 0;
    const vector = Buffer.alloc(HEADER_BYTES);
    vector.writeBigUInt64LE(libc().address(body), 0);
    vector.writeBigUInt64LE(BigInt(length), 8);
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeBigUInt64LE(libc().address(address), 0);
    header.writeUInt32LE(2 + nameLength, 8);
    header.writeBigUInt64LE(libc().address(vector), 16);
    header.writeBigUInt64LE(1n, 24);
    const control = Buffer.alloc(HEADER_BYTES);
    if (descriptor !== undefined) {
      control.writeBigUInt64LE(BigInt(CONTROL_BYTES), 0);
      control.writeInt32LE(linux.SOL_SOCKET, 8);
      control.writeInt32LE(linux.SCM_RIGHTS, 12);
      control.writeInt32LE(descriptor, 16);
      header.writeBigUInt64LE(libc().address(control), 32);
      header.writeBigUInt64LE(24n, 40);
    }
    return libc().sendmsg(fd, header, linux.MSG_DONTWAIT | linux.MSG_NOSIGNAL) >= 0;
  } finally {
    libc().close(fd);
  }
}

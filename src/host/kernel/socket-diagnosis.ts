import type { ListeningSocket } from './listening-sockets.js';
import { addressText, V4_PREFIX } from './ip-bytes.js';
import { type Libc, loadLibc } from './libc.js';
import { linux } from './linux.js';

/** The `sock_diag` family of netlink, and what is asked of it. */
const SOCK_DIAG = 4;
const SOCK_DIAG_BY_FAMILY = 20;
const NLM_REQUEST_DUMP = 0x301;
const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const IPPROTO_TCP = 6;
/** A bit for each state; a listening socket is in state 10. */
const LISTENING_ONLY = 1 << 10;
const FAMILIES = { v4: 2, v6: 10 };

/** `struct nlmsghdr`, then `struct inet_diag_req_v2`. */
const HEADER_BYTES = 16;
const REQUEST_BYTES = HEADER_BYTES + 56;

/** Where `struct inet_diag_msg` has what we need, counted from the start of the message. */
const AT = {
  family: HEADER_BYTES,
  port: HEADER_BYTES + 4,
  address: HEADER_BYTES + 8,
  inode: HEADER_BYTES + 68,
};
const MESSAGE_BYTES = AT.inode + 4;

const answer = Buffer.allocUnsafeSlow(64 * 1024);

/** The listening TCP sockets of our own network; null where the kernel cannot be asked this way. */
export function dumpListeners(): ListeningSocket[] | null {
  const libc = loadLibc();
  if (libc === null) return null;
  const type = linux.SOCK_RAW | linux.SOCK_CLOEXEC | linux.SOCK_NONBLOCK;
  const fd = libc.socket(linux.AF_NETLINK, type, SOCK_DIAG);
  if (fd < 0) return null;
  try {
    const found = Object.values(FAMILIES).map((family) => dump(libc, fd, family));
    return found.includes(null) ? null : found.flatMap((sockets) => sockets ?? []);
  } finally {
    libc.close(fd);
  }
}

function dump(libc: Libc, fd: number, family: number): ListeningSocket[] | null {
  const request = requestFor(family);
  if (libc.write(fd, request, request.length) !== request.length) return null;
  const found: ListeningSocket[] = [];
  for (;;) {
    const length = libc.read(fd, answer, answer.length);
    if (length <= 0) return null;
    for (let at = 0; at + HEADER_BYTES <= length; ) {
      const size = answer.readUInt32LE(at);
      const type = answer.readUInt16LE(at + 4);
      if (type === NLMSG_DONE) return found;
      if (type === NLMSG_ERROR || size < MESSAGE_BYTES) return null;
      found.push(socketAt(at));
      at += (size + 3) & ~3;
    }
  }
}

function requestFor(family: number): Buffer {
  const request = Buffer.alloc(REQUEST_BYTES);
  request.writeUInt32LE(REQUEST_BYTES, 0);
  request.writeUInt16LE(SOCK_DIAG_BY_FAMILY, 4);
  request.writeUInt16LE(NLM_REQUEST_DUMP, 6);
  request.writeUInt8(family, HEADER_BYTES);
  request.writeUInt8(IPPROTO_TCP, HEADER_BYTES + 1);
  request.writeUInt32LE(LISTENING_ONLY, HEADER_BYTES + 4);
  return request;
}

function socketAt(at: number): ListeningSocket {
  const isV4 = answer.readUInt8(at + AT.family) === FAMILIES.v4;
  const digits = answer.toString('hex', at + AT.address, at + AT.address + (isV4 ? 4 : 16));
  return {
    address: addressText(isV4 ? V4_PREFIX + digits : digits),
    port: answer.readUInt16BE(at + AT.port),
    inode: answer.readUInt32LE(at + AT.inode),
  };
}

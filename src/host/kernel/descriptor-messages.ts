import { libc } from './libc.js';
import { linux } from './linux.js';

/** Messages with descriptors, over a socket that keeps them apart (`SOCK_SEQPACKET`). */

/** The kernel passes no more at a time. */
const MAX_DESCRIPTORS = 250;
/** The longest message, in bytes. */
export const MAX_MESSAGE_BYTES = 64 * 1024;

/** `struct msghdr` on 64-bit machines. */
const header = new Uint8Array(128);
const headerView = new DataView(header.buffer);
const HEADER_FLAGS_AT = 48;
const CONTROL_LENGTH_AT = 40;
/** `struct iovec`. */
const vector = new Uint8Array(128);
const vectorView = new DataView(vector.buffer);
const CONTROL_HEADER_BYTES = 16;
/** `struct cmsghdr` and the descriptors. */
const control = new Uint8Array(CONTROL_HEADER_BYTES + 4 * (MAX_DESCRIPTORS + 6));
const controlView = new DataView(control.buffer);
const body = Buffer.allocUnsafeSlow(MAX_MESSAGE_BYTES);
let isPrepared = false;

export interface DescriptorMessage {
  readonly text: string;
  readonly descriptors: readonly number[];
  /** Descriptors that came along are gone, because this process had no room for them. */
  readonly isTruncated: boolean;
}

/** Two connected sockets. */
export function socketPair(): [number, number] {
  const ends = new Int32Array(2);
  const failed = libc().socketpair(linux.AF_UNIX, linux.SOCK_SEQPACKET | linux.SOCK_CLOEXEC, 0, ends);
  if (failed !== 0) throw new Error(`no socket could be made (${libc().errno()})`);
  return [ends[0] ?? -1, ends[1] ?? -1];
}

/** Returns false if there is no room for it now, or no receiver. With `wait`, waits for room. */
export function sendMessage(
  socket: number,
  text: string,
  descriptors: readonly number[] = [],
  { wait = false } = {},
): boolean {
  const length = body.write(text);
  if (length < Buffer.byteLength(text)) throw new Error('the message is too long');
  prepare(length, descriptors.length);
  if (descriptors.length > 0) {
    controlView.setBigUint64(0, BigInt(CONTROL_HEADER_BYTES + 4 * descriptors.length), true);
    controlView.setInt32(8, linux.SOL_SOCKET, true);
    controlView.setInt32(12, linux.SCM_RIGHTS, true);
    for (const [index, fd] of descriptors.entries())
      controlView.setInt32(CONTROL_HEADER_BYTES + 4 * index, fd, true);
  }
  const flags = linux.MSG_NOSIGNAL | (wait ? 0 : linux.MSG_DONTWAIT);
  for (;;) {
    if (libc().sendmsg(socket, header, flags) >= 0) return true;
    if (libc().errno() !== 'EINTR') return false;
  }
}

/** The next message; null if there is none yet, `end` if there will be none. With `wait`, waits for it. */
export function receiveMessage(socket: number, { wait = false } = {}): DescriptorMessage | 'end' | null {
  for (;;) {
    prepare(MAX_MESSAGE_BYTES, MAX_DESCRIPTORS);
    const flags = linux.MSG_CMSG_CLOEXEC | (wait ? 0 : linux.MSG_DONTWAIT);
    const length = libc().recvmsg(socket, header, flags);
    if (length > 0) return { text: body.toString('utf8', 0, length), ...received() };
    if (length === 0) return 'end';
    const reason = libc().errno();
    if (reason === 'EAGAIN') return null;
    if (reason !== 'EINTR') return 'end';
  }
}

function received(): { descriptors: number[]; isTruncated: boolean } {
  const controlLength = Number(headerView.getBigUint64(CONTROL_LENGTH_AT, true));
  const descriptors: number[] = [];
  if (controlLength >= CONTROL_HEADER_BYTES) {
    const end = Number(controlView.getBigUint64(0, true));
    for (let at = CONTROL_HEADER_BYTES; at + 4 <= end; at += 4)
      descriptors.push(controlView.getInt32(at, true));
  }
  const isTruncated = (headerView.getInt32(HEADER_FLAGS_AT, true) & linux.MSG_CTRUNC) !== 0;
  return { descriptors, isTruncated };
}

function prepare(bytes: number, descriptors: number): void {
  if (!isPrepared) {
    vectorView.setBigUint64(0, libc().address(body), true);
    headerView.setBigUint64(16, libc().address(vector), true);
    headerView.setBigUint64(24, 1n, true);
    isPrepared = true;
  }
  vectorView.setBigUint64(8, BigInt(bytes), true);
  const controlLength = descriptors === 0 ? 0 : CONTROL_HEADER_BYTES + Math.ceil(descriptors / 2) * 8;
  headerView.setBigUint64(32, descriptors === 0 ? 0n : libc().address(control), true);
  headerView.setBigUint64(CONTROL_LENGTH_AT, BigInt(controlLength), true);
  headerView.setInt32(HEADER_FLAGS_AT, 0, true);
  controlView.setBigUint64(0, 0n, true);
}

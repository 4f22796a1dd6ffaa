import { describe, expect, test } from 'vitest';
import { type FilterOptions, seccompFilter } from '../../../src/host/sandbox/seccomp/seccomp.js';

const ARCHITECTURE = { x64: 0xc000_003e, arm64: 0xc000_00b7, i386: 0x4000_0003 };

/** Runs a filter as the kernel would, for one call. */
function verdict(
  filter: Uint8Array,
  { arch, nr, args = [] }: { arch: number; nr: number; args?: number[] },
): string {
  const view = new DataView(filter.buffer);
  const data: Record<number, number> = { 0: nr, 4: arch, 16: args[0] ?? 0, 24: args[1] ?? 0 };
  let word = 0;
  for (let at = 0; ; at += 1) {
    const code = view.getUint16(at * 8, true);
    const operand = view.getUint32(at * 8 + 4, true);
    const jump = (holds: boolean) => (at += view.getUint8(at * 8 + (holds ? 2 : 3)));
    if (code === 0x20) word = data[operand] ?? Number.NaN;
    else if (code === 0x54) word = (word & operand) >>> 0;
    else if (code === 0x15) jump(word === operand);
    else if (code === 0x35) jump(word >= operand);
    else if (code === 0x45) jump((word & operand) !== 0);
    else if (code === 0x06)
      return (
        { 0x7fff_0000: 'allow', 0x8000_0000: 'kill', 0x5_0001: 'EPERM', 0x5_0026: 'ENOSYS' }[operand] ??
        `${operand}`
      );
    else throw new Error(`unknown instruction ${code}`);
  }
}

const numbers = {
  x64: {
    read: 0,
    socket: 41,
    socketpair: 53,
    clone: 56,
    unshare: 272,
    mount: 165,
    ptrace: 101,
    readv: 310,
    writev: 311,
  },
  arm64: {
    read: 63,
    socket: 198,
    socketpair: 199,
    clone: 220,
    unshare: 97,
    mount: 40,
    ptrace: 117,
    readv: 270,
    writev: 271,
  },
};

/** By number, as the kernel knows them, so that no call is refused under another's: mounts, keys, modules, and so on. */
const refused = {
  x64: [
    ...[308, 165, 166, 155, 161, 304, 248, 249, 250, 321, 298, 323, 246, 320, 175, 313, 176],
    ...[169, 167, 168, 163, 179, 103, 172, 173],
  ],
  arm64: [
    ...[268, 40, 39, 41, 51, 265, 217, 218, 219, 280, 241, 282, 104, 294, 105, 273, 106],
    ...[142, 224, 225, 89, 60, 116],
  ],
  both: [428, 429, 430, 431, 432, 433, 442, 467, 425, 426, 427, 438, 443],
};

describe.each(['x64', 'arm64'] as const)('the filter for %s', (architecture) => {
  const options: FilterOptions = { architecture, unixSockets: 'blocked' };
  const filter = seccompFilter(options);
  const nr = numbers[architecture];
  const arch = ARCHITECTURE[architecture];
  const judge = (number: number, ...args: number[]) => verdict(filter, { arch, nr: number, args });

  test('lets ordinary calls pass', () => {
    expect([judge(nr.read), judge(nr.ptrace)]).toEqual(['allow', 'allow']);
  });

  test('keeps debuggers away from the first process only', () => {
    const about = (pid: number) => [judge(nr.ptrace, 16, pid), judge(nr.readv, pid), judge(nr.writev, pid)];
    expect(about(1)).toEqual(['EPERM', 'EPERM', 'EPERM']);
    expect(about(2)).toEqual(['allow', 'allow', 'allow']);
  });

  test('kills what comes through another ABI', () => {
    expect(verdict(filter, { arch: ARCHITECTURE.i386, nr: 3 })).toBe('kill');
    const other = architecture === 'x64' ? ARCHITECTURE.arm64 : ARCHITECTURE.x64;
    expect(verdict(filter, { arch: other, nr: 0 })).toBe('kill');
    expect(judge(0x4000_0000 + 41)).toBe(architecture === 'x64' ? 'kill' : 'allow');
  });

  test('knows families and kinds of sockets', () => {
    const families = [1, 2, 10, 16, 17, 38, 40].map((family) => judge(nr.socket, family));
    expect(families).toEqual(['EPERM', 'allow', 'allow', 'allow', 'EPERM', 'EPERM', 'EPERM']);
    const cloexec = 0o2000000;
    const kinds = [1, 1 | cloexec, 2, 2 | cloexec, 3, 5].map((kind) => judge(nr.socketpair, 1, kind));
    expect(kinds).toEqual(['allow', 'allow', 'EPERM', 'EPERM', 'EPERM', 'allow']);
  });

  test('allows sockets of the host only when told so', () => {
    const open = seccompFilter({ ...options, unixSockets: 'allowed' });
    expect(verdict(open, { arch, nr: nr.socket, args: [1] })).toBe('allow');
    expect(verdict(open, { arch, nr: nr.socketpair, args: [1, 2] })).toBe('allow');
  });

  test('refuses namespaces and mounts, not threads', () => {
    const thread = 0x3d_0f00;
    expect([judge(nr.clone, thread), judge(nr.clone, 0x1000_0011), judge(nr.unshare, 0x2_0000)]).toEqual([
      'allow',
      'EPERM',
      'EPERM',
    ]);
    // A namespace for clocks, which only unshare makes: among the flags of clone the bit belongs to a signal.
    expect([judge(nr.unshare, 0x80), judge(nr.unshare, 0x480)]).toEqual(['EPERM', 'EPERM']);
    expect([judge(nr.unshare, 0x400), judge(nr.mount), judge(435), judge(425)]).toEqual([
      'allow',
      'EPERM',
      'ENOSYS',
      'EPERM',
    ]);
  });

  test('refuses every call that changes the view or the kernel', () => {
    const passed = [...refused[architecture], ...refused.both].filter((number) => judge(number) !== 'EPERM');
    expect(passed).toEqual([]);
  });

  test('refuses nothing else', () => {
    // Sockets depend on their arguments, and clone3 does not exist.
    const known = new Set([...refused[architecture], ...refused.both, nr.socket, nr.socketpair, 435]);
    const others = Array.from({ length: 1024 }, (_, number) => number).filter((number) => !known.has(number));
    expect(others.filter((number) => judge(number) !== 'allow')).toEqual([]);
  });

  test('is within what the kernel accepts', () => {
    expect(filter.length % 8).toBe(0);
    expect(filter.length / 8).toBeLessThan(4096);
  });
});

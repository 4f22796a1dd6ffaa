import { type FilterArchitecture, type SyscallName, syscallNumber } from './syscalls.js';

/** One instruction of the kernel's packet filter machine: 8 bytes in the filter. */
interface Instruction {
  readonly code: number;
  /** Instructions to skip if the comparison holds, and if not. */
  readonly whenTrue?: number;
  readonly whenFalse?: number;
  readonly operand: number;
}

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const FAIL = 0x0005_0000;
const EPERM = 1;
const ENOSYS = 38;

/** Offsets in `struct seccomp_data`. Of each argument the low half, where these arguments live. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENT_0 = 16;
const ARGUMENT_1 = 24;

const AUDIT_ARCHITECTURE: Record<FilterArchitecture, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
/** Set in the number of every call of the x32 ABI, which would slip past comparisons with the plain numbers. */
const X32_BIT = 0x4000_0000;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET: new namespaces bring new capabilities. */
const NAMESPACE_FLAGS = 0x7e02_0000;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
/** The kernel's mask for the kind of a socket beside SOCK_CLOEXEC and SOCK_NONBLOCK. */
const SOCKET_KIND = 0xf;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;

/** Refused whatever their arguments: they change the view, load code into the kernel, or do what a filter cannot see. */
const REFUSED: readonly SyscallName[] = [
  'setns',
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'open_tree',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'open_tree_attr',
  'open_by_handle_at',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'add_key',
  'request_key',
  'keyctl',
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'kexec_load',
  'kexec_file_load',
  'init_module',
  'finit_module',
  'delete_module',
  'reboot',
  'swapon',
  'swapoff',
  'acct',
  'quotactl',
  'syslog',
  'iopl',
  'ioperm',
];

/** What a filter depends on. */
export interface FilterOptions {
  readonly architecture: FilterArchitecture;
  readonly unixSockets: 'blocked' | 'allowed';
}

const filters = new Map<string, Uint8Array>();

/** The filter for a policy, made once for each of the few there are. */
export function knownFilter(options: FilterOptions): Uint8Array {
  const key = `${options.architecture} ${options.unixSockets}`;
  const filter = filters.get(key) ?? seccompFilter(options);
  filters.set(key, filter);
  return filter;
}

/** The filter as the kernel takes it. A call through a foreign ABI kills the process: its numbers mean other calls. */
export function seccompFilter({ architecture, unixSockets }: FilterOptions): Uint8Array {
  const on = (name: SyscallName, body: readonly Instruction[]) => forCall(architecture, name, body);
  return encode([
    load(ARCHITECTURE),
    unlessEqual(AUDIT_ARCHITECTURE[architecture]),
    end(KILL_PROCESS),
    load(NUMBER),
    ...(architecture === 'x64'
      ? [{ code: JUMP_AT_LEAST, whenFalse: 1, operand: X32_BIT }, end(KILL_PROCESS)]
      : []),
    ...on('socket', familyCheck(unixSockets)),
    ...on('socketpair', unixSockets === 'allowed' ? [end(ALLOW)] : pairCheck()),
    ...on('clone', namespaceCheck()),
    ...on('unshare', namespaceCheck()),
    // Its flags are behind a pointer a filter cannot follow. Without it C libraries take clone.
    ...on('clone3', [end(FAIL | ENOSYS)]),
    ...REFUSED.flatMap((name) => on(name, [end(FAIL | EPERM)])),
    end(ALLOW),
  ]);
}

/** AF_VSOCK reaches the hypervisor past any network namespace; the other exotic families are doors nobody needs. */
function familyCheck(unixSockets: 'blocked' | 'allowed'): Instruction[] {
  const families = [AF_INET, AF_INET6, AF_NETLINK, ...(unixSockets === 'allowed' ? [AF_UNIX] : [])];
  return [load(ARGUMENT_0), ...allowOnly(families)];
}

/** One end of a datagram pair can be pointed at any socket of the host; a connected stream cannot. */
function pairCheck(): Instruction[] {
  return [load(ARGUMENT_1), { code: AND, operand: SOCKET_KIND }, ...allowOnly([SOCK_STREAM, SOCK_SEQPACKET])];
}

function namespaceCheck(): Instruction[] {
  return [
    load(ARGUMENT_0),
    { code: JUMP_ANY_BIT, whenTrue: 1, operand: NAMESPACE_FLAGS },
    end(ALLOW),
    end(FAIL | EPERM),
  ];
}

function allowOnly(values: readonly number[]): Instruction[] {
  return [...values.flatMap((value) => [ifEqual(value), end(ALLOW)]), end(FAIL | EPERM)];
}

/** Runs the body, which must end in a verdict, for one call. The number stays loaded for what follows. */
function forCall(
  architecture: FilterArchitecture,
  name: SyscallName,
  body: readonly Instruction[],
): readonly Instruction[] {
  const operand = syscallNumber(name, architecture);
  if (operand === null) return [];
  return [{ code: JUMP_EQUAL, whenFalse: body.length, operand }, ...body];
}

const load = (offset: number): Instruction => ({ code: LOAD_WORD, operand: offset });
const end = (verdict: number): Instruction => ({ code: RETURN, operand: verdict });

/** The next instruction is for what is equal. */
const ifEqual = (operand: number): Instruction => ({ code: JUMP_EQUAL, whenFalse: 1, operand });
/** The next instruction is for what is not equal. */
const unlessEqual = (operand: number): Instruction => ({ code: JUMP_EQUAL, whenTrue: 1, operand });

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  for (const [index, { code, whenTrue = 0, whenFalse = 0, operand }] of program.entries()) {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, whenTrue);
    bytes.setUint8(index * 8 + 3, whenFalse);
    bytes.setUint32(index * 8 + 4, operand, true);
  }
  return new Uint8Array(bytes.buffer);
}

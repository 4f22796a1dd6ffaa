import {
  type Case,
  encode,
  end,
  type Instruction,
  ifAtLeast,
  ifEqual,
  load,
  mask,
  select,
  unlessAnyBit,
  unlessEqual,
} from './filter-program.js';
import { SharedBytes } from '../../kernel/index.js';
import { type FilterArchitecture, type SyscallName, syscallNumber } from './syscalls.js';

const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const FAIL = 0x0005_0000;
const EPERM = 1;
const ENOSYS = 38;

/** Offsets in `struct seccomp_data`; for arguments, of the low half, which holds the values we check. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENT_0 = 16;
const ARGUMENT_1 = 24;

const AUDIT_ARCHITECTURE: Record<FilterArchitecture, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
/** Set in the number of every x32 call, which would otherwise slip past comparisons with plain numbers. */
const X32_BIT = 0x4000_0000;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET: new namespaces bring new capabilities. */
const NAMESPACE_FLAGS = 0x7e02_0000;
/** CLONE_NEWTIME, for unshare only: in clone's flags the bit belongs to the signal number. */
const TIME_NAMESPACE_FLAG = 0x80;

const FIRST_PROCESS = 1;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
/** Masks the socket type, without SOCK_CLOEXEC and SOCK_NONBLOCK. */
const SOCKET_KIND = 0xf;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;

/**
 * Refused whatever the arguments: they change the view, load code into the kernel, or act where a filter cannot see.
 */
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
  // Takes descriptors from other processes, identified by a pidfd: a filter cannot see whose.
  'pidfd_getfd',
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
  'quotactl_fd',
  'syslog',
  'iopl',
  'ioperm',
];

/** What a filter depends on. */
export interface FilterOptions {
  readonly architecture: FilterArchitecture;
  readonly unixSockets: 'blocked' | 'allowed';
}

const filters = new Map<string, SharedBytes>();

/** A descriptor for reading the filter. Each of the few filters is built once. The caller closes the descriptor. */
export function openFilter(options: FilterOptions): number {
  const key = `${options.architecture} ${options.unixSockets}`;
  const filter = filters.get(key) ?? new SharedBytes(seccompFilter(options));
  filters.set(key, filter);
  return filter.open();
}

/**
 * The filter in the kernel's format. A call through a foreign ABI kills the process, since its numbers mean other
 * calls.
 */
export function seccompFilter({ architecture, unixSockets }: FilterOptions): Uint8Array {
  const on = (name: SyscallName, body: readonly Instruction[]) => caseOf(architecture, name, body);
  const cases = [
    ...on('socket', familyCheck(unixSockets)),
    ...on('socketpair', unixSockets === 'allowed' ? [end(ALLOW)] : pairCheck()),
    ...on('clone', namespaceCheck(NAMESPACE_FLAGS)),
    ...on('unshare', namespaceCheck(NAMESPACE_FLAGS | TIME_NAMESPACE_FLAG)),
    // Its flags are behind a pointer, which a filter cannot follow. C libraries fall back to clone.
    ...on('clone3', [end(FAIL | ENOSYS)]),
    ...on('ptrace', firstProcessCheck(ARGUMENT_1)),
    ...on('process_vm_readv', firstProcessCheck(ARGUMENT_0)),
    ...on('process_vm_writev', firstProcessCheck(ARGUMENT_0)),
    ...REFUSED.flatMap((name) => on(name, [end(FAIL | EPERM)])),
  ];
  return encode([
    load(ARCHITECTURE),
    unlessEqual(AUDIT_ARCHITECTURE[architecture]),
    end(KILL_PROCESS),
    load(NUMBER),
    ...(architecture === 'x64' ? [ifAtLeast(X32_BIT), end(KILL_PROCESS)] : []),
    ...select(cases, end(ALLOW)),
  ]);
}

/** AF_VSOCK reaches the hypervisor despite any network namespace; nobody needs the other exotic families. */
function familyCheck(unixSockets: 'blocked' | 'allowed'): Instruction[] {
  const families = [AF_INET, AF_INET6, AF_NETLINK, ...(unixSockets === 'allowed' ? [AF_UNIX] : [])];
  return [load(ARGUMENT_0), ...allowOnly(families)];
}

/** One end of a datagram pair can be pointed at any socket of the host; a connected stream cannot. */
function pairCheck(): Instruction[] {
  return [load(ARGUMENT_1), mask(SOCKET_KIND), ...allowOnly([SOCK_STREAM, SOCK_SEQPACKET])];
}

function namespaceCheck(flags: number): Instruction[] {
  return [load(ARGUMENT_0), unlessAnyBit(flags), end(ALLOW), end(FAIL | EPERM)];
}

/**
 * The first process may hold descriptors that lead outside (see `bwrap-argv.ts`); debuggers have no business with it.
 */
function firstProcessCheck(pidArgument: number): Instruction[] {
  return [load(pidArgument), ifEqual(FIRST_PROCESS), end(FAIL | EPERM), end(ALLOW)];
}

function allowOnly(values: readonly number[]): Instruction[] {
  return [...values.flatMap((value) => [ifEqual(value), end(ALLOW)]), end(FAIL | EPERM)];
}

/** Empty if the architecture lacks the call. */
function caseOf(
  architecture: FilterArchitecture,
  name: SyscallName,
  body: readonly Instruction[],
): readonly Case[] {
  const number = syscallNumber(name, architecture);
  return number === null ? [] : [{ number, body }];
}

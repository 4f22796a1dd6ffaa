import { existsSync } from 'node:fs';
import type { Escape, Theme } from './escape.js';

/** A switch of the kernel: opening it for writing is enough, and nothing is written. */
const control = (path: string): Escape => ({
  name: `switch ${path}`,
  tries: `opens('${path}')`,
  unconfined: existsSync(path) ? 'worksForRoot' : 'varies',
});

/** A device: opening it is enough. */
const device = (path: string): Escape => ({
  name: `device ${path}`,
  tries: `opens('${path}', os.O_RDONLY)`,
  unconfined: 'varies',
  ...(path === '/dev/console' && { ownTerminal: true }),
});

/** A device made by the attacker. Only harmless ones are opened, and only if they are on the list of what must not be there. */
const node = (
  name: string,
  { kind, major, minor }: { kind: 'CHR' | 'BLK'; major: number; minor: number },
): Escape => ({
  name: `make the device ${name}`,
  tries: `
os.mknod(f'{inside}/node', stat.S_IF${kind} | 0o666, os.makedev(${major}, ${minor}))
opens(f'{inside}/node', os.O_RDONLY)`,
  unconfined: 'varies',
});

/** Ways into the kernel or to its switches. */
export const kernel: Theme = {
  name: 'the kernel',
  escapes: [
    {
      name: 'load a program into the kernel',
      tries: `call('bpf', 0, create_string_buffer(struct.pack('IIIII', 2, 4, 4, 1, 0) + bytes(100)), 72); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'watch events of the machine',
      tries: `call('perf_event_open', create_string_buffer(struct.pack('IIQ', 1, 128, 0) + bytes(112)), -1, 0, -1, 0); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'watch events of itself',
      tries: `call('perf_event_open', create_string_buffer(struct.pack('IIQQQQQ', 1, 128, 0, 0, 0, 0, 1 << 5 | 1 << 6) + bytes(72)), 0, -1, -1, 0); won()`,
      unconfined: 'varies',
    },
    { name: 'handle page faults', tries: `call('userfaultfd', 1); won()`, unconfined: 'varies' },
    {
      name: 'queue calls past the filter',
      tries: `call('io_uring_setup', 1, create_string_buffer(120)); won()`,
      unconfined: 'varies',
    },
    { name: 'a keyring of its own', tries: `call('keyctl', 1, 0); won()` },
    { name: 'the keyring of the user', tries: `call('keyctl', 0, -4, 0); won()` },
    { name: 'the keyring of the session', tries: `call('keyctl', 0, -3, 0); won()` },
    {
      name: 'read keys of the user',
      tries: `call('keyctl', 11, -4, create_string_buffer(4096), 4096); won()`,
    },
    {
      name: 'add a key',
      tries: `key = call('add_key', 'user', 'execwire-attack', create_string_buffer(b'x'), 1, -2); won()`,
    },
    { name: 'request a key', tries: `allowed('request_key', 'user', 'execwire-attack-none', 0, 0)` },
    { name: 'load a kernel', tries: `allowed('kexec_load', 0, 99, 0, 0)`, unconfined: 'varies' },
    {
      name: 'load a kernel from a file',
      tries: `allowed('kexec_file_load', -1, -1, 0, 0, 0)`,
      unconfined: 'varies',
    },
    {
      name: 'load a module',
      tries: `allowed('init_module', create_string_buffer(4), 4, '')`,
      unconfined: 'varies',
    },
    { name: 'load a module from a file', tries: `allowed('finit_module', -1, '', 0)`, unconfined: 'varies' },
    {
      name: 'unload a module',
      tries: `allowed('delete_module', 'execwire_attack_none', 0)`,
      unconfined: 'varies',
    },
    // With magic numbers that mean nothing: the kernel asks for the right first.
    { name: 'restart the machine', tries: `allowed('reboot', 0, 0, 0, 0)`, unconfined: 'worksForRoot' },
    {
      name: 'swap to a file',
      tries: `allowed('swapon', '/nonexistent/execwire', 0)`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'end swapping',
      tries: `allowed('swapoff', '/nonexistent/execwire')`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'account for processes',
      tries: `allowed('acct', '/nonexistent/execwire')`,
      unconfined: 'varies',
    },
    {
      name: 'change quotas',
      tries: `allowed('quotactl', 0x800002 << 8, '/nonexistent', 0, 0)`,
      unconfined: 'varies',
    },
    {
      name: 'change quotas by descriptor',
      tries: `allowed('quotactl_fd', os.open(outside, os.O_RDONLY), 0x800002 << 8, 0, 0, refusal=(errno.EPERM, errno.EROFS, errno.ENOSYS))`,
      unconfined: 'varies',
    },
    {
      name: 'read the log of the kernel',
      tries: `call('syslog', 3, create_string_buffer(100), 100); won()`,
      unconfined: 'worksForRoot',
    },
    { name: 'reach ports of the machine', tries: `call('iopl', 3); won()`, unconfined: 'varies' },
    {
      name: 'reach one port of the machine',
      tries: `call('ioperm', 0x80, 1, 1); won()`,
      unconfined: 'varies',
    },
    {
      name: 'set the clock',
      // To what it is, as far as it is known.
      tries: `time.clock_settime(time.CLOCK_REALTIME, time.time()); won()`,
      unconfined: 'notTried',
    },
    {
      name: 'name the machine',
      tries: `name = os.uname().nodename; call('sethostname', name, len(name)); won()`,
      unconfined: 'worksForRoot',
    },
    ...[
      '/proc/sys/kernel/core_pattern',
      '/proc/sys/kernel/modprobe',
      '/proc/sys/kernel/hotplug',
      '/proc/sys/kernel/poweroff_cmd',
      '/proc/sys/kernel/sysrq',
      '/proc/sys/kernel/panic',
      '/proc/sys/kernel/randomize_va_space',
      '/proc/sys/kernel/ns_last_pid',
      '/proc/sys/kernel/hostname',
      '/proc/sys/kernel/shmmax',
      '/proc/sys/kernel/usermodehelper/bset',
      '/proc/sys/fs/suid_dumpable',
      '/proc/sys/fs/protected_symlinks',
      '/proc/sys/fs/binfmt_misc/register',
      '/proc/sys/vm/drop_caches',
      '/proc/sys/vm/overcommit_memory',
      '/proc/sys/net/ipv4/ip_forward',
      '/proc/sys/net/core/bpf_jit_enable',
      '/proc/sysrq-trigger',
      '/proc/irq/default_smp_affinity',
      '/proc/timer_list',
      '/sys/kernel/uevent_helper',
      '/sys/kernel/mm/ksm/run',
      '/sys/kernel/profiling',
      '/sys/kernel/kexec_crash_size',
      '/sys/power/state',
      '/sys/bus/pci/rescan',
      '/sys/module/kernel/parameters/panic',
      '/sys/class/net/lo/mtu',
      '/sys/fs/cgroup/cgroup.procs',
      '/sys/fs/cgroup/cgroup.subtree_control',
      '/sys/fs/cgroup/unified/cgroup.procs',
      '/sys/fs/cgroup/pids/cgroup.procs',
      '/sys/fs/cgroup/memory/release_agent',
      '/sys/fs/cgroup/pids/release_agent',
      '/sys/fs/cgroup/devices/devices.allow',
      '/sys/kernel/debug/sched/debug',
      '/sys/kernel/tracing/trace_marker',
      '/sys/kernel/security/lsm',
    ].map(control),
    { ...control('/proc/sys/user/max_user_namespaces'), unconfined: 'varies' },
    {
      name: 'a control group of its own',
      tries: `
def make(path):
    os.mkdir(f'{path}/execwire-attack')
    os.rmdir(f'{path}/execwire-attack')
    won(path)
each(['/sys/fs/cgroup', *glob.glob('/sys/fs/cgroup/*/')], make)`,
      unconfined: 'varies',
    },
    {
      name: 'leave the control group',
      tries: `each(glob.glob('/sys/fs/cgroup/**/cgroup.procs', recursive=True)[:200], opens)`,
      unconfined: 'varies',
    },
    {
      name: 'a program for the end of a control group',
      tries: `each(glob.glob('/sys/fs/cgroup/*/release_agent'), opens)`,
      unconfined: 'varies',
    },
    ...[
      ...[
        '/dev/mem',
        '/dev/kmem',
        '/dev/port',
        '/dev/kmsg',
        '/dev/vda',
        '/dev/sda',
        '/dev/nvme0n1',
        '/dev/loop-control',
      ],
      ...[
        '/dev/loop0',
        '/dev/kvm',
        '/dev/net/tun',
        '/dev/vsock',
        '/dev/vhost-net',
        '/dev/vhost-vsock',
        '/dev/uinput',
      ],
      ...[
        '/dev/tty0',
        '/dev/tty1',
        '/dev/ttyS0',
        '/dev/console',
        '/dev/hvc0',
        '/dev/rtc0',
        '/dev/watchdog',
        '/dev/userfaultfd',
      ],
      ...[
        '/dev/dri/card0',
        '/dev/snd/timer',
        '/dev/input/event0',
        '/dev/ptp0',
        '/dev/cpu/0/msr',
        '/dev/mapper/control',
      ],
    ].map(device),
    {
      name: 'a disk by its number',
      tries: `
disks = [line.split()[:2] for line in open('/proc/partitions').read().splitlines()[2:]]
for major, minor in disks:
    path = f'{inside}/disk-{major}-{minor}'
    os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(int(major), int(minor)))
    opens(path, os.O_RDONLY)`,
      unconfined: 'varies',
    },
    node('null', { kind: 'CHR', major: 1, minor: 3 }),
    node('memory', { kind: 'CHR', major: 1, minor: 1 }),
    node('log', { kind: 'CHR', major: 1, minor: 11 }),
    node('loop', { kind: 'BLK', major: 7, minor: 0 }),
    {
      name: 'memory of the kernel',
      tries: `opens('/proc/kcore', os.O_RDONLY)`,
      unconfined: 'varies',
    },
    {
      name: 'a node in the devices',
      tries: `os.mknod('/dev/execwire-attack', stat.S_IFCHR | 0o600, os.makedev(1, 3)); os.unlink('/dev/execwire-attack'); won()`,
      unconfined: 'worksForRoot',
    },
  ],
};

// Tries to get out of a sandbox. Each attempt prints what the kernel said: an errno, or "allowed".
// Usage: node hostile.mjs JSON, where JSON names the places and servers outside.
import dgram from 'node:dgram';
import dns from 'node:dns/promises';
import fs from 'node:fs';
import net from 'node:net';
import { constants } from 'node:os';
import koffi from 'koffi';

const { workspace, outside, port, socketPath, abstractName, hostPid, namespaces } = JSON.parse(
  process.argv[2],
);

const libc = koffi.load('libc.so.6');
const syscall = libc.func('long syscall(long number, long a, long b, long c, long d)');
const mount = libc.func(
  'int mount(const char *from, const char *to, const char *type, unsigned long flags, const char *data)',
);
const umount = libc.func('int umount2(const char *path, int flags)');
const socket = libc.func('int socket(int family, int kind, int protocol)');
const socketpair = libc.func('int socketpair(int family, int kind, int protocol, void *fds)');
const unshare = libc.func('int unshare(int flags)');
const ptrace = libc.func('long ptrace(int request, int pid, void *address, void *data)');

const names = Object.fromEntries(Object.entries(constants.errno).map(([name, number]) => [number, name]));
const raw = (result) => (result >= 0 ? 'allowed' : names[koffi.errno()]);
const number = (x64, arm64) => (process.arch === 'arm64' ? arm64 : x64);

async function attempt(action) {
  try {
    const said = await action();
    return typeof said === 'string' ? said : 'allowed';
  } catch (error) {
    return error.code ?? String(error);
  }
}

const open = (path, flags) => fs.closeSync(fs.openSync(path, flags));
const connect = (to) =>
  new Promise((resolve, reject) => net.connect(to).on('connect', resolve).on('error', reject));
const sendDatagram = () =>
  new Promise((resolve, reject) => {
    const sender = dgram.createSocket('udp4');
    sender.on('error', reject).send('x', port, '127.0.0.1', (error) => {
      sender.close();
      if (error) reject(error);
      else resolve('sent');
    });
  });

const MS_REMOUNT_BIND = 32 | 4096;
const CLONE_NEWUSER_NEWNS = 0x10020000;
const AF_UNIX = 1;
const AF_VSOCK = 40;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const PTRACE_ATTACH = 16;

const attempts = {
  capabilities: () => {
    const status = fs.readFileSync('/proc/self/status', 'utf8');
    const left = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].filter(
      (name) => !new RegExp(`${name}:\\t0+\\n`).test(status),
    );
    return [...left, /NoNewPrivs:\t1/.test(status) ? 'noNewPrivileges' : 'newPrivileges'].join(' ');
  },
  sharedNamespaces: () =>
    Object.keys(namespaces)
      .filter((name) => fs.readlinkSync(`/proc/self/ns/${name}`) === namespaces[name])
      .join(' '),
  writeInside: () => fs.writeFileSync(`${workspace}/inside`, 'x'),
  writeOutside: () => fs.writeFileSync(`${outside}/new`, 'x'),
  overwriteOutside: () => fs.writeFileSync(`${outside}/kept`, 'x'),
  removeOutside: () => fs.unlinkSync(`${outside}/kept`),
  chmodOutside: () => fs.chmodSync(`${outside}/kept`, 0o777),
  throughLink: () => {
    fs.symlinkSync(outside, `${workspace}/way-out`);
    fs.writeFileSync(`${workspace}/way-out/new`, 'x');
  },
  throughDotDot: () => fs.writeFileSync(`${workspace}/../outside/new`, 'x'),
  throughHardLink: () => fs.linkSync(`${outside}/kept`, `${workspace}/kept`),
  renameInto: () => fs.renameSync(`${outside}/kept`, `${workspace}/taken`),
  throughProcRoot: () => fs.writeFileSync(`/proc/self/root${outside}/new`, 'x'),
  throughInitRoot: () => fs.writeFileSync(`/proc/1/root${outside}/new`, 'x'),
  // Descriptors of the host are open there for a moment, when the program may run already.
  descriptorsOfInit: () => fs.readdirSync('/proc/1/fd'),
  takeFromInit: () => raw(syscall(438, syscall(434, 1, 0, 0, 0), 0, 0, 0)),
  traceInit: () => raw(ptrace(PTRACE_ATTACH, 1, null, null)),
  readInit: () => raw(syscall(number(310, 270), 1, 0, 0, 0)),
  writeInit: () => raw(syscall(number(311, 271), 1, 0, 0, 0)),
  // Others are fair game: debuggers work inside. This one does not exist.
  traceOwn: () => raw(ptrace(PTRACE_ATTACH, 2 ** 22 - 1, null, null)),
  corePattern: () => open('/proc/sys/kernel/core_pattern', fs.constants.O_WRONLY),
  sysrq: () => open('/proc/sysrq-trigger', fs.constants.O_WRONLY),
  sysfs: () => open('/sys/kernel/uevent_seqnum', fs.constants.O_WRONLY),
  remountRoot: () => raw(mount('none', '/', null, MS_REMOUNT_BIND, null)),
  remountOutside: () => raw(mount(outside, outside, null, 4096, null)),
  uncoverProtected: () => raw(umount(`${workspace}/.git`, 2)),
  newUserNamespace: () => raw(unshare(CLONE_NEWUSER_NEWNS)),
  cloneNamespace: () =>
    raw(syscall(number(56, 220), CLONE_NEWUSER_NEWNS | constants.signals.SIGCHLD, 0, 0, 0)),
  joinNamespace: () => raw(syscall(number(308, 268), -1, 0, 0, 0)),
  clone3: () => raw(syscall(435, 0, 0, 0, 0)),
  openTree: () => raw(syscall(428, -100, 0, 0, 0)),
  ioUring: () => raw(syscall(425, 1, 0, 0, 0)),
  keyring: () => raw(syscall(number(250, 219), 0, -3, 0, 0)),
  signalHost: () => process.kill(hostPid, 0),
  traceHost: () => raw(ptrace(PTRACE_ATTACH, hostPid, null, null)),
  tcp: () => connect({ port, host: '127.0.0.1' }),
  udp: sendDatagram,
  dns: () => dns.lookup('example.com'),
  unixSocket: () => connect(socketPath),
  abstractSocket: () => connect(`\0${abstractName}`),
  datagramPair: () => raw(socketpair(AF_UNIX, SOCK_DGRAM, 0, new Int32Array(2))),
  streamPair: () => raw(socketpair(AF_UNIX, SOCK_STREAM, 0, new Int32Array(2))),
  hypervisorSocket: () => raw(socket(AF_VSOCK, SOCK_STREAM, 0)),
  writeProtected: () => fs.writeFileSync(`${workspace}/.git/config`, 'x'),
  addToProtected: () => fs.writeFileSync(`${workspace}/.git/hooks-new`, 'x'),
  renameProtected: () => fs.renameSync(`${workspace}/.git`, `${workspace}/.git2`),
  createMissing: () => fs.mkdirSync(`${workspace}/.codex`),
  fillMissing: () => fs.writeFileSync(`${workspace}/.codex/config`, 'x'),
  removeMissing: () => fs.rmdirSync(`${workspace}/.codex`),
  replaceMissing: () => {
    fs.mkdirSync(`${workspace}/mine`);
    fs.renameSync(`${workspace}/mine`, `${workspace}/.codex`);
  },
  linkOverMissing: () => fs.symlinkSync(outside, `${workspace}/.agents`),
  renameWorkspace: () => fs.renameSync(workspace, `${workspace}2`),
};

const result = {};
for (const [name, action] of Object.entries(attempts)) result[name] = await attempt(action);
console.log(JSON.stringify(result));
process.exit(0);

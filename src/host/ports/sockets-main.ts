import { libc, linux, sendMessage } from '../kernel/index.js';

/**
 * Runs in the network of a sandbox, creates sockets there and passes them to the server, which stays outside. A socket belongs
 * to the network it was created in, wherever it is used.
 */
const [count = 1, socketFd = 3] = process.argv.slice(2).map(Number);

function makeSocket(): number {
  const type = linux.SOCK_STREAM | linux.SOCK_CLOEXEC | linux.SOCK_NONBLOCK;
  // An IPv6 socket can connect to IPv4 addresses, too.
  const fd = libc().socket(linux.AF_INET6, type, 0);
  return fd >= 0 ? fd : libc().socket(linux.AF_INET, type, 0);
}

const sockets = Array.from({ length: count }, makeSocket).filter((fd) => fd >= 0);
process.exitCode = sendMessage(socketFd, 'sockets', sockets) ? 0 : 1;

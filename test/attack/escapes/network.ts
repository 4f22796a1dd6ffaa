import type { Escape, PolicyName, Theme } from './escape.js';

const ONLINE: readonly PolicyName[] = ['network'];

/** Connects and is greeted with the secret. */
const greeted = (family: string, kind: string, address: string) => `
sock = socket.socket(socket.${family}, socket.${kind})
sock.settimeout(3)
sock.connect(${address})
if sock.recv(100).decode() == secret: won('greeted')`;

/** A datagram that arrives is told by the host. */
const arrives =
  (kind: string): NonNullable<Escape['seen']> =>
  ({ visitors }, slug) =>
    visitors.some(({ visitor, text }) => visitor === kind && text === slug);

/** A family of sockets nobody needs inside. Being given one is enough. */
const family = (name: string, number: number, { kind = 1, protocol = 0 } = {}): Escape => ({
  name: `family ${name}`,
  tries: `call('socket', ${number}, ${kind}, ${protocol}); won()`,
  unconfined: 'varies',
});

/** Ways to anybody outside over a socket of any kind. */
export const network: Theme = {
  name: 'the network',
  escapes: [
    { name: 'tcp', tries: greeted('AF_INET', 'SOCK_STREAM', `('127.0.0.1', tcp4)`), allowedUnder: ONLINE },
    {
      name: 'tcp over ipv6',
      tries: greeted('AF_INET6', 'SOCK_STREAM', `('::1', tcp6)`),
      allowedUnder: ONLINE,
    },
    {
      name: 'tcp to any address',
      tries: greeted('AF_INET', 'SOCK_STREAM', `('0.0.0.0', any4)`),
      allowedUnder: ONLINE,
    },
    {
      name: 'tcp by a mapped address',
      tries: greeted('AF_INET6', 'SOCK_STREAM', `('::ffff:127.0.0.1', tcp4)`),
      allowedUnder: ONLINE,
    },
    {
      name: 'tcp to the outer address',
      tries: `
for address in hostAddresses:
    sock = socket.create_connection((address, any4), 2)
    if sock.recv(100).decode() == secret: won(address)`,
      unconfined: 'varies',
      allowedUnder: ONLINE,
    },
    {
      name: 'several ways at once',
      tries: `
sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
sock.connect(('127.0.0.1', tcp4))
if sock.recv(100).decode() == secret: won('greeted')`,
      unconfined: 'varies',
      allowedUnder: ONLINE,
    },
    {
      name: 'a first packet with data',
      tries: `
sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
sock.settimeout(3)
sock.sendto(b'x', 0x20000000, ('127.0.0.1', tcp4))
if sock.recv(100).decode() == secret: won('greeted')`,
      unconfined: 'varies',
      allowedUnder: ONLINE,
    },
    {
      name: 'udp',
      tries: `socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'udp', ('127.0.0.1', udp4))`,
      seen: arrives('udp4'),
      allowedUnder: ONLINE,
    },
    {
      name: 'udp over ipv6',
      tries: `socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'udp-over-ipv6', ('::1', udp6))`,
      seen: arrives('udp6'),
      allowedUnder: ONLINE,
    },
    {
      name: 'a distant address',
      // Nothing is sent: the kernel looks for a way and takes it or not.
      tries: `
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect(('203.0.113.7', 9))
won()`,
      unconfined: 'varies',
      allowedUnder: ONLINE,
    },
    {
      name: 'be reached by the host',
      tries: `
sock = socket.create_server(('127.0.0.1', 0))
if os.readlink('/proc/self/ns/net') == namespaces['net']: won(sock.getsockname())`,
      allowedUnder: ONLINE,
    },
    {
      name: 'an interface that leads out',
      tries: `
names = [line.split(':')[0].strip() for line in open('/proc/net/dev').read().splitlines()[2:]]
if set(names) - {'lo', 'sit0', 'tunl0', 'gre0', 'gretap0', 'erspan0', 'ip_vti0', 'ip6_vti0', 'ip6tnl0', 'ip6gre0'}: won(names)`,
      unconfined: 'varies',
      allowedUnder: ONLINE,
    },
    {
      name: 'a route that leads out',
      tries: `
if len(open('/proc/net/route').read().splitlines()) > 1: won()`,
      unconfined: 'varies',
      allowedUnder: ONLINE,
    },
    { name: 'unix socket', tries: greeted('AF_UNIX', 'SOCK_STREAM', 'unixStream') },
    { name: 'unix packets', tries: greeted('AF_UNIX', 'SOCK_SEQPACKET', 'unixPackets') },
    {
      name: 'unix datagram',
      tries: `socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'unix-datagram', unixDatagram)`,
      seen: arrives('unix datagram'),
    },
    { name: 'abstract socket', tries: greeted('AF_UNIX', 'SOCK_STREAM', `'\\0' + abstract`) },
    {
      name: 'abstract datagram',
      tries: `socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'abstract-datagram', '\\0' + abstractDatagram)`,
      seen: arrives('abstract datagram'),
    },
    {
      name: 'one end of a datagram pair',
      tries: `
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendto(b'one-end-of-a-datagram-pair', unixDatagram)`,
      seen: arrives('unix datagram'),
    },
    {
      name: 'one end of a raw pair',
      tries: `
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
one.sendto(b'one-end-of-a-raw-pair', unixDatagram)`,
      seen: arrives('unix datagram'),
    },
    {
      name: 'one end of a stream pair',
      tries: `
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
one.connect(unixStream)
if one.recv(100).decode() == secret: won('greeted')`,
      unconfined: 'varies',
    },
    {
      name: 'a pair of packets led astray',
      tries: `
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
other.close()
one.connect(unixPackets)
if one.recv(100).decode() == secret: won('greeted')`,
      unconfined: 'varies',
    },
    {
      name: 'a pair with flags beyond the kind',
      tries: `
fds = (c_int * 2)()
call('socketpair', 1, 2 | 0o2000000 | 1 << 32, 0, fds)
socket.socket(fileno=fds[0]).sendto(b'a-pair-with-flags-beyond-the-kind', unixDatagram)`,
      seen: arrives('unix datagram'),
    },
    {
      name: 'a family beyond the lower half',
      tries: `
fd = call('socket', 1 | 1 << 32, 1, 0)
sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=fd)
sock.connect(unixStream)
if sock.recv(100).decode() == secret: won('greeted')`,
    },
    {
      name: 'a socket behind a link',
      tries: `
os.symlink(unixStream, f'{inside}/link')
sock = socket.socket(socket.AF_UNIX)
sock.connect(f'{inside}/link')
won()`,
    },
    {
      name: 'daemons that run containers',
      tries: `
def knock(path):
    socket.socket(socket.AF_UNIX).connect(path)
    won(path)
each(['/run/docker.sock', '/var/run/docker.sock', '/run/containerd/containerd.sock', '/run/podman/podman.sock'], knock)`,
      unconfined: 'varies',
    },
    {
      name: 'buses and managers',
      tries: `
def knock(path):
    socket.socket(socket.AF_UNIX).connect(path)
    won(path)
each(['/run/dbus/system_bus_socket', f'/run/user/{os.getuid()}/bus', '/run/systemd/private', '/run/systemd/journal/stdout', '/tmp/.X11-unix/X0'], knock)`,
      unconfined: 'varies',
    },
    {
      name: 'the server that runs it',
      tries: `
for port in serverPorts:
    server = socket.create_connection(('127.0.0.1', port), 3)
    server.settimeout(5)
    server.sendall(b'GET / HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n')
    if b' 101 ' in server.recv(200): won(port)`,
    },
    {
      name: 'raw packets',
      tries: `socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'raw packets over ipv6',
      tries: `socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'ping',
      tries: `
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1)
sock.connect(('203.0.113.7', 0))
won()`,
      unconfined: 'varies',
      allowedUnder: ONLINE,
    },
    {
      name: 'frames',
      tries: `socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'cooked frames',
      tries: `socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'the hypervisor',
      tries: `socket.socket(40, socket.SOCK_STREAM); won()`,
      unconfined: 'varies',
    },
    {
      name: 'change addresses',
      // Deletes an address nobody has: the kernel asks for the right first.
      tries: `
sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
address = struct.pack('BBBBI', 2, 32, 0, 0, 1) + struct.pack('HH4s', 8, 2, bytes([203, 0, 113, 7]))
sock.send(struct.pack('IHHII', 16 + len(address), 21, 5, 1, 0) + address)
if struct.unpack_from('i', sock.recv(4096), 16)[0] not in (-1, -13): won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'take an interface down',
      tries: `
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
flags = fcntl.ioctl(sock, 0x8913, struct.pack('16sH', b'lo', 0) + bytes(22))
fcntl.ioctl(sock, 0x8914, flags)
won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'listen to devices',
      tries: `
sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)
sock.bind((0, 1))
if os.readlink('/proc/self/ns/net') == namespaces['net']: won()`,
      // Of the network it may use.
      allowedUnder: ONLINE,
    },
    {
      name: 'speak to the audit',
      tries: `
sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9)
sock.send(struct.pack('IHHII', 16, 1000, 5, 1, 0))
answer = struct.unpack_from('i', sock.recv(4096), 16)[0]
if answer not in (-1, -13, -111): won(answer)`,
      unconfined: 'varies',
    },
    {
      name: 'a privileged port',
      tries: `socket.create_server(('127.0.0.1', 913)); won()`,
      unconfined: 'worksForRoot',
    },
    family('netrom', 6),
    family('x25', 9, { kind: 5 }),
    family('key', 15, { kind: 3, protocol: 2 }),
    family('rds', 21, { kind: 5 }),
    family('can', 29, { kind: 3, protocol: 1 }),
    family('tipc', 30),
    family('bluetooth', 31, { kind: 3, protocol: 1 }),
    family('phonet', 35, { kind: 2 }),
    family('crypto', 38, { kind: 5 }),
    family('nfc', 39, { kind: 5 }),
    family('kernel connections', 41, { kind: 2 }),
    family('modem', 42, { kind: 2 }),
    family('smc', 43),
    family('express data path', 44, { kind: 3 }),
  ],
};

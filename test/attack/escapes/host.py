"""What a machine has that nobody confined may reach: listeners, memory, descriptors, queues. Tells where they are, then who came.

Usage: host.py DIRECTORY SECRET. Answers every byte of its stdin once all visitors are told, and ends with it.
"""
import ctypes, json, os, selectors, socket, sys

directory, secret = sys.argv[1], sys.argv[2].encode()
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
IPC_CREAT, IPC_RMID = 0o1000, 0
selector = selectors.DefaultSelector()
# Where only parents may look into a process everybody may look into this one: nothing but a sandbox shall protect it.
libc.prctl(0x59616d61, ctypes.c_ulong(2 ** 64 - 1), 0, 0, 0)


def tell(message):
    print(json.dumps(message), flush=True)


def listen(name, family, kind, address):
    try:
        sock = socket.socket(family, kind)
        sock.bind(address)
    except OSError:
        return None
    if family == socket.AF_UNIX and isinstance(address, str) and address.startswith('/'):
        os.chmod(address, 0o777)
    if kind != socket.SOCK_DGRAM:
        sock.listen()
    sock.setblocking(False)
    selector.register(sock, selectors.EVENT_READ, name)
    return sock.getsockname()


def greet(key):
    try:
        if key.fileobj.type == socket.SOCK_DGRAM:
            text = key.fileobj.recv(1000)
        else:
            visitor, _ = key.fileobj.accept()
            visitor.send(secret)
            text = b''
            visitor.close()
        tell({'visitor': key.data, 'text': text.decode(errors='replace')})
    except OSError:
        pass


def shared_segment():
    """Memory everybody of this machine can attach."""
    key = int.from_bytes(os.urandom(3), 'big') + 1
    identity = libc.shmget(key, 4096, IPC_CREAT | 0o666)
    address = libc.shmat(identity, None, 0)
    ctypes.memmove(address, secret, len(secret))
    return key, identity


buffer = ctypes.create_string_buffer(secret)
abstract = f'execwire-attack-{os.getpid()}'
own_file = os.open(os.path.join(directory, 'descriptor'), os.O_RDWR | os.O_CREAT, 0o666)
os.write(own_file, secret)
stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
tcp4 = listen('tcp4', socket.AF_INET, stream, ('127.0.0.1', 0))
tcp6 = listen('tcp6', socket.AF_INET6, stream, ('::1', 0))
any4 = listen('any4', socket.AF_INET, stream, ('0.0.0.0', 0))
udp4 = listen('udp4', socket.AF_INET, datagram, ('127.0.0.1', 0))
udp6 = listen('udp6', socket.AF_INET6, datagram, ('::1', 0))
paths = {name: os.path.join(directory, name) for name in ('stream', 'datagram', 'packets')}
listen('unix stream', socket.AF_UNIX, stream, paths['stream'])
listen('unix datagram', socket.AF_UNIX, datagram, paths['datagram'])
listen('unix packets', socket.AF_UNIX, socket.SOCK_SEQPACKET, paths['packets'])
listen('abstract stream', socket.AF_UNIX, stream, f'\0{abstract}')
listen('abstract datagram', socket.AF_UNIX, datagram, f'\0{abstract}-datagram')
key, segment = shared_segment()
queue = f'/execwire-attack-{os.getpid()}'
libc.mq_open(queue.encode(), os.O_RDWR | os.O_CREAT, 0o666, None)
tell({
    'hostPid': os.getpid(), 'address': ctypes.addressof(buffer), 'descriptor': own_file, 'sysvKey': key, 'queue': queue,
    'tcp4': tcp4 and tcp4[1], 'tcp6': tcp6 and tcp6[1], 'any4': any4 and any4[1], 'udp4': udp4 and udp4[1],
    'udp6': udp6 and udp6[1], 'unixStream': paths['stream'], 'unixDatagram': paths['datagram'],
    'unixPackets': paths['packets'], 'abstract': abstract, 'abstractDatagram': f'{abstract}-datagram',
})
selector.register(0, selectors.EVENT_READ, 'stdin')
over = False
while not over:
    for ready, _ in selector.select():
        if ready.data != 'stdin':
            greet(ready)
            continue
        over = os.read(0, 1) == b''
        # Whatever was sent before we were asked has arrived by now.
        while waiting := [key for key, _ in selector.select(0) if key.data != 'stdin']:
            for key in waiting:
                greet(key)
        tell({'settled': True})
libc.shmctl(segment, IPC_RMID, None)
libc.mq_unlink(queue.encode())

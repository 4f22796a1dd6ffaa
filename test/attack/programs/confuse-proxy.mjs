// Ways to confuse a proxy into reaching this machine. Each gets what it needs to speak, and the name a witness is to hear.

/** What is said to the proxy, part by part; the next part follows an answer. */
export function confusions({ port, proxyPort }) {
  const here = `127.0.0.1:${port}`;
  const end = '\r\nConnection: close\r\n\r\n';
  const get = (name) => `GET /${name} HTTP/1.1\r\nHost: ${here}${end}`;
  const portBytes = Buffer.of(port >> 8, port & 255);
  const hello = Buffer.of(5, 1, 0);
  const socksName = (bytes) =>
    Buffer.concat([Buffer.of(5, 1, 0, 3, bytes.length), Buffer.from(bytes, 'latin1'), portBytes]);
  const connect = (target) => (name) => [`CONNECT ${target} HTTP/1.1\r\n\r\n`, get(name)];
  const line = (text) => (name) => [text.replaceAll('NAME', name)];
  return {
    'CONNECT with a user name': connect(`example.com:80@${here}`),
    'CONNECT with a path': connect(`${here}/x`),
    'CONNECT with a query': connect(`example.com:80?${here}`),
    'CONNECT with a fragment': connect(`example.com:80#${here}`),
    'CONNECT without a port': connect('127.0.0.1'),
    'CONNECT to port 0': connect('127.0.0.1:0'),
    'CONNECT to a port beyond all': connect(`127.0.0.1:${port + 65_536}`),
    'CONNECT to a port with zeros': connect(`127.0.0.1:0${port}`),
    'CONNECT to a negative port': connect(`127.0.0.1:-${65_536 - port}`),
    'CONNECT to a port in hexadecimal': connect(`127.0.0.1:0x${port.toString(16)}`),
    'CONNECT to a list': connect(`example.com:80,${here}`),
    'CONNECT to a URL': connect(`http://${here}/`),
    'CONNECT with a space': connect(`example.com:80 ${here}`),
    'CONNECT with a tab': connect(`example.com:80\t${here}`),
    'CONNECT with the request behind it': (name) => [`CONNECT ${here} HTTP/1.1\r\n\r\n${get(name)}`],
    'connect in small letters': (name) => [`connect ${here} HTTP/1.1\r\n\r\n`, get(name)],
    'CONNECT of version 1.0': (name) => [`CONNECT ${here} HTTP/1.0\r\n\r\n`, get(name)],
    'CONNECT of version 0.9': (name) => [`CONNECT ${here}\r\n\r\n`, get(name)],
    'dots of another script': connect(`127。0。0。1:${port}`),
    'an address with a zone': connect(`[::1%lo]:${port}`),
    'a mapped address with a zone': connect(`[::ffff:127.0.0.1%25lo]:${port}`),
    'an address with five parts': connect(`127.0.0.0.1:${port}`),
    'a very long name': connect(`${'a'.repeat(4_000)}.${here}`),
    'a name of empty parts': connect(`..localhost:${port}`),
    'a back slash': line(`GET http://example.com\\@${here}/NAME HTTP/1.1\r\nHost: ${here}${end}`),
    'a fragment': line(`GET http://${here}#@example.com/NAME HTTP/1.1\r\nHost: example.com${end}`),
    'a path without a scheme': line(`GET //${here}/NAME HTTP/1.1\r\nHost: example.com${end}`),
    'https in the open': line(`GET https://${here}/NAME HTTP/1.1\r\nHost: ${here}${end}`),
    'a file': line(`GET file:///etc/hostname?NAME HTTP/1.1\r\nHost: ${here}${end}`),
    'two targets': line(`GET http://example.com/ http://${here}/NAME HTTP/1.1\r\nHost: ${here}${end}`),
    'a star': line(`OPTIONS * HTTP/1.1\r\nHost: ${here}\r\nX: NAME${end}`),
    'a trace': line(`TRACE http://${here}/NAME HTTP/1.1\r\nHost: ${here}${end}`),
    'a folded header': line(`GET /NAME HTTP/1.1\r\nHost: example.com\r\n ${here}${end}`),
    'a header behind a line feed': line(`GET /NAME HTTP/1.1\nHost: ${here}\nConnection: close\n\n`),
    'a header with a space': line(`GET /NAME HTTP/1.1\r\nHost : ${here}${end}`),
    'a host in a list': line(`GET /NAME HTTP/1.1\r\nHost: example.com, ${here}${end}`),
    'a forwarded host': line(
      `GET http://a.invalid/ HTTP/1.1\r\nHost: a.invalid\r\nX-Forwarded-Host: ${here}${end}`,
    ),
    'the socket of a header': line(
      `GET http://a.invalid/NAME HTTP/1.1\r\nHost: a.invalid\r\nx-unix-socket: /run/x${end}`,
    ),
    'two lengths': (name) => [
      `POST http://a.invalid/ HTTP/1.1\r\nHost: a.invalid\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n${get(name)}`,
    ],
    'a coding that is hidden': (name) => [
      `POST http://a.invalid/ HTTP/1.1\r\nHost: a.invalid\r\nTransfer-Encoding:\tchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${get(name)}`,
    ],
    'two codings': (name) => [
      `POST http://a.invalid/ HTTP/1.1\r\nHost: a.invalid\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${get(name)}`,
    ],
    'a second request on one connection': (name) => [
      'GET http://a.invalid/ HTTP/1.1\r\nHost: a.invalid\r\n\r\n',
      `GET http://${here}/${name} HTTP/1.1\r\nHost: ${here}${end}`,
    ],
    'the proxy itself': (name) => [
      `GET http://127.0.0.1:${proxyPort}/ HTTP/1.1\r\nHost: 127.0.0.1:${proxyPort}${end}`,
      get(name),
    ],
    'HTTP 2': (name) => [`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${name}`],
    'socks 4': (name) => [Buffer.concat([Buffer.of(4, 1), portBytes, Buffer.of(127, 0, 0, 1, 0)]), get(name)],
    'socks 4a': (name) => [
      Buffer.concat([Buffer.of(4, 1), portBytes, Buffer.of(0, 0, 0, 1, 0), Buffer.from('localhost\0')]),
      get(name),
    ],
    'a socks name with a NUL': (name) => [hello, socksName('127.0.0.1\0.example.com'), get(name)],
    'a socks name with a line break': (name) => [hello, socksName('127.0.0.1\n'), get(name)],
    'a socks name with a port': (name) => [hello, socksName(here), get(name)],
    'an empty socks name': (name) => [hello, socksName(''), get(name)],
    'a socks name in octal': (name) => [hello, socksName('0177.0.0.01'), get(name)],
    'a socks address of no kind': (name) => [
      hello,
      Buffer.concat([Buffer.of(5, 1, 0, 9, 127, 0, 0, 1), portBytes]),
      get(name),
    ],
    'a socks look-up': (name) => [
      hello,
      Buffer.concat([Buffer.of(5, 0xf0, 0, 1, 127, 0, 0, 1), portBytes]),
      get(name),
    ],
    'everything of socks at once': (name) => [
      Buffer.concat([hello, Buffer.of(5, 1, 0, 1, 127, 0, 0, 1), portBytes, Buffer.from(get(name))]),
    ],
  };
}

import { bin, firstLine } from '../../testkit/launch.mjs';
import { stdioLink, webSocketLink } from '../../testkit/links.mjs';
import { endChild, spawnTracked } from './children.mjs';
import { WireClient } from './wire.mjs';

const LISTEN = { ws: 'ws://127.0.0.1:0', stdio: 'stdio' };

/** The servers to measure: ours and, where there is one, codex, each over both transports. */
export function serverSubjects({ codex, codexHome }) {
  const vendors = [{ vendor: 'execwire', argv: [process.execPath, bin, 'serve'], env: {} }];
  if (codex) {
    vendors.push({ vendor: 'codex', argv: [codex.path, 'exec-server'], env: { CODEX_HOME: codexHome } });
  }
  return vendors.flatMap(({ vendor, argv, env }) =>
    Object.entries(LISTEN).map(([transport, address]) => ({
      name: `${vendor} ${transport}`,
      vendor,
      transport,
      argv: [...argv, '--listen', address],
      env,
    })),
  );
}

/** The same server, asked for output as bytes. */
export function binaryFramesSubject(servers) {
  const subject = servers.find(({ name }) => name === 'execwire ws');
  return { ...subject, name: 'execwire ws binary', capabilities: { binaryFrames: true } };
}

/** Starts a server, connects and shakes hands. `readyMs` is the time until it could be used. */
export async function openServer(subject) {
  return await (subject.transport === 'ws' ? openOverWebSocket(subject) : openOverStdio(subject));
}

async function openOverWebSocket(subject) {
  const begun = performance.now();
  const child = launch(subject, 'ignore');
  const url = await firstLine(child);
  const readyMs = performance.now() - begun;
  const client = new WireClient(await webSocketLink(url));
  await client.handshake(subject.capabilities);
  return { ...running({ subject, child, client, readyMs }), url };
}

async function openOverStdio(subject) {
  const begun = performance.now();
  const child = launch(subject, 'pipe');
  const client = new WireClient(stdioLink(child));
  await client.handshake();
  return running({ subject, child, client, readyMs: performance.now() - begun });
}

function launch({ argv, env }, stdin) {
  return spawnTracked(argv, { stdio: [stdin, 'pipe', 'ignore'], env: { ...process.env, ...env } });
}

function running({ subject, child, client, readyMs }) {
  const stop = async (options) => {
    client.close();
    await endChild(child, options);
  };
  return { name: subject.name, subject, pid: child.pid, client, readyMs, stop };
}

/** Opens one server per subject for the time of `work`. */
export async function withServers(subjects, work) {
  const servers = [];
  try {
    for (const subject of subjects) servers.push(await openServer(subject));
    return await work(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Runs our own server on a WebSocket for the time of `work`, which gets its URL and connects by itself. */
export async function withListeningServer(subjects, work) {
  const child = launch(
    subjects.find(({ vendor, transport }) => vendor === 'execwire' && transport === 'ws'),
    'ignore',
  );
  try {
    return await work(await firstLine(child));
  } finally {
    await endChild(child);
  }
}

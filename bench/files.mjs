// Files over the wire: Execwire and codex behind the same client, and node:fs as the limit. Server memory while streaming.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { dialWebSocket, RemoteEnvironment } from '../dist/client/index.js';
import { findCodex } from './lib/codex.mjs';

const MIB = 1024 * 1024;
const folder = mkdtempSync(join(homedir(), 'execwire-bench-'));
const at = (name) => join(folder, name);

async function startServer(command, env = {}) {
  const child = spawn(command[0], command.slice(1), {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  const [url] = await once(createInterface({ input: child.stdout }), 'line');
  const environment = await RemoteEnvironment.connect({
    id: 'bench',
    dial: () => dialWebSocket(url),
    resume: false,
  });
  return {
    child,
    files: environment.files,
    close: () => environment.close().finally(() => child.kill('SIGTERM')),
  };
}

function residentMb(pid) {
  return (Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024) / 1e6;
}

async function seconds(action) {
  const started = performance.now();
  await action();
  return (performance.now() - started) / 1000;
}

/** 1 GiB out and in again, four blocks under way at a time; also how much the server grew meanwhile. */
async function stream({ files, child }, totalMib) {
  const block = Buffer.alloc(MIB, 'x');
  const before = residentMb(child.pid);
  let peak = before;
  const blocks = async (handle, move) => {
    for (let first = 0; first < totalMib; first += 4) {
      await Promise.all([0, 1, 2, 3].map((next) => move(handle, (first + next) * MIB)));
      peak = Math.max(peak, residentMb(child.pid));
    }
    await handle.close();
  };
  const written = await seconds(async () =>
    blocks(await files.open(at('stream'), { mode: 'replace' }), (handle, offset) =>
      handle.write(offset, block),
    ),
  );
  const read = await seconds(async () =>
    blocks(await files.open(at('stream')), (handle, offset) => handle.read(offset, MIB)),
  );
  return {
    writeMbPerSecond: (totalMib * 1.048576) / written,
    readMbPerSecond: (totalMib * 1.048576) / read,
    grownMb: peak - before,
  };
}

async function measure(server) {
  const { files, child } = server;
  const small = await seconds(async () => {
    for (let count = 0; count < 2000; count += 1) await files.readFile(at('small'));
  });
  const before = residentMb(child.pid);
  const large = await seconds(() => files.readFile(at('large')));
  const writeLarge = await seconds(() => files.writeFile(at('written'), readFileSync(at('large'))));
  const afterLarge = residentMb(child.pid) - before;
  const walk = await seconds(() => files.walk(at('tree')));
  return {
    smallPerSecond: 2000 / small,
    read64MibSeconds: large,
    write64MibSeconds: writeLarge,
    grownBy64MibMb: afterLarge,
    walkSeconds: walk,
    ...(await stream(server, 1024)),
  };
}

const codex = findCodex();
const codexHome = at('codex-home');
try {
  mkdirSync(codexHome);
  writeFileSync(at('small'), Buffer.alloc(1024));
  writeFileSync(at('large'), Buffer.alloc(64 * MIB, 'y'));
  for (let folderNumber = 0; folderNumber < 50; folderNumber += 1) {
    mkdirSync(at(`tree/${folderNumber}`), { recursive: true });
    for (let file = 0; file < 990; file += 1) writeFileSync(at(`tree/${folderNumber}/${file}`), '');
  }
  const bare = await seconds(async () => {
    for (let count = 0; count < 2000; count += 1) await readFile(at('small'));
  });
  const bareLarge = await seconds(() => readFile(at('large')));
  const bareWrite = await seconds(() => writeFile(at('written'), readFileSync(at('large'))));
  const rows = {
    'node:fs': { smallPerSecond: 2000 / bare, read64MibSeconds: bareLarge, write64MibSeconds: bareWrite },
  };
  const subjects = [
    ['execwire', [process.execPath, new URL('../bin/execwire.js', import.meta.url).pathname, 'serve']],
  ];
  const program = typeof codex === 'string' ? codex : codex?.path;
  if (program) subjects.push(['codex', [program, 'exec-server', '--listen', 'ws://127.0.0.1:0']]);
  for (const [name, command] of subjects) {
    const server = await startServer(command, { CODEX_HOME: codexHome });
    try {
      rows[name] = await measure(server);
    } finally {
      await server.close();
    }
  }
  console.table(
    Object.fromEntries(
      Object.entries(rows).map(([name, row]) => [
        name,
        Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Number(value.toFixed(2))])),
      ]),
    ),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

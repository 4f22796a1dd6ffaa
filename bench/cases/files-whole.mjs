import { join } from 'node:path';
import { contentOf, MIB, medianRows, readWhole, secondsOf, sourceFile, writeWhole } from '../lib/files.mjs';
import { interleave } from '../lib/interleave.mjs';
import { growthDuring } from '../lib/memory.mjs';
import { openNodeSampler } from '../lib/sampler.mjs';
import { binaryFramesSubject, openServer } from '../lib/servers.mjs';

const metrics = [
  { key: 'read32Ms', label: '32 MiB read ms' },
  { key: 'write32Ms', label: '32 MiB written ms' },
  { key: 'read64Ms', label: '64 MiB read ms' },
  { key: 'read64GrownMb', label: 'MB grown by it' },
];

export const filesWhole = {
  name: 'files-whole',
  title: 'Large files in one message',
  about:
    '`fs/readFile` and `fs/writeFile` on a fresh server, and how much larger the server was at most while it sent 64 MiB',
  metrics,
  headline: 'read32Ms',
  baseline: 'node:fs',
  run: async ({ servers, plan, scratch }) => {
    const files = {
      small: sourceFile(scratch, 32 * MIB),
      large: sourceFile(scratch, 64 * MIB),
      written: join(scratch, 'written'),
    };
    const bare = { name: 'node:fs', measure: () => measureBare(files) };
    const content = contentOf(32 * MIB);
    const subjects = [...servers, binaryFramesSubject(servers)].map((subject) => ({
      name: subject.name,
      measure: () => measure(subject, files, content),
    }));
    const all = [...subjects, bare];
    const runs = await interleave(all, plan.filesWhole, (subject) => subject.measure());
    return medianRows(runs, metrics);
  },
};

async function measure(subject, { small, large, written }, content) {
  const server = await openServer(subject);
  try {
    const { client, pid } = server;
    let read64 = 0;
    const read64GrownMb = await growthDuring(pid, async () => {
      read64 = await secondsOf(() => readWhole(client, large, 64 * MIB));
    });
    const read32 = await secondsOf(() => readWhole(client, small, 32 * MIB));
    const write32 = await secondsOf(() => writeWhole(client, written, content));
    return { read32Ms: read32 * 1e3, write32Ms: write32 * 1e3, read64Ms: read64 * 1e3, read64GrownMb };
  } finally {
    await server.stop();
  }
}

async function measureBare({ small, large, written }) {
  return {
    read32Ms: await bareMs(['read', small]),
    write32Ms: await bareMs(['write', written, String(32 * MIB)]),
    read64Ms: await bareMs(['read', large]),
  };
}

async function bareMs(args) {
  const node = openNodeSampler({ name: 'node:fs', script: 'node-files.mjs', args });
  try {
    const [ms] = await node.sample({ count: 1, budgetMs: 0 });
    return ms;
  } finally {
    await node.stop();
  }
}

import { join } from 'node:path';
import { medianRows, readBlocks, secondsOf, writeBlocks } from '../lib/files.mjs';
import { interleave } from '../lib/interleave.mjs';
import { growthDuring } from '../lib/memory.mjs';
import { binaryFramesSubject, openServer } from '../lib/servers.mjs';

const metrics = [
  { key: 'writeMbPerSecond', label: 'MB/s written' },
  { key: 'readMbPerSecond', label: 'MB/s read' },
  { key: 'grownMb', label: 'MB grown' },
];

export const filesStream = {
  name: 'files-stream',
  title: 'Files in blocks',
  about:
    'A file written and read again in blocks of 1 MiB, four under way, and the most the server grew meanwhile',
  metrics,
  headline: 'readMbPerSecond',
  run: async ({ servers, plan, scratch }) => {
    const { byteCount } = plan.filesStream;
    const path = join(scratch, 'streamed');
    const subjects = [...servers, binaryFramesSubject(servers)];
    const runs = await interleave(subjects, plan.filesStream, (subject) => stream(subject, path, byteCount));
    return medianRows(runs, metrics);
  },
};

async function stream(subject, path, byteCount) {
  const server = await openServer(subject);
  try {
    const { client, pid } = server;
    const seconds = {};
    const grownMb = await growthDuring(pid, async () => {
      seconds.write = await secondsOf(() => writeBlocks(client, path, byteCount));
      seconds.read = await secondsOf(() => readBlocks(client, path, byteCount));
    });
    const megabytes = byteCount / 1e6;
    return {
      writeMbPerSecond: megabytes / seconds.write,
      readMbPerSecond: megabytes / seconds.read,
      grownMb,
    };
  } finally {
    await server.stop();
  }
}

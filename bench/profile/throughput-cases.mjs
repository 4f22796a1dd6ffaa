import { join } from 'node:path';
import { textFile } from '../lib/text-file.mjs';
import { MIB, secondsOf, writeBlocks } from '../lib/files.mjs';
import { runOutput } from '../lib/processes.mjs';

const gigabytes = (byteCount) => ({ name: 'GB', amount: byteCount / 1e9 });

/** Output of a program, in one kind of frames. */
function output({ name, about, size, capabilities, tty = false, source }) {
  return {
    name,
    about,
    capabilities,
    prepare: (client, { short, scratch }) => {
      const byteCount = (short ? size.short : size.full) * MIB;
      const argv = ['head', '-c', String(byteCount), source(scratch, byteCount)];
      return { unit: gigabytes(byteCount), once: () => runOutput(client, { argv, byteCount, tty }), argv };
    },
  };
}

const zeros = () => '/dev/zero';

export const pipes = output({
  name: 'pipes',
  about: 'Output on pipes, in text frames',
  size: { full: 256, short: 32 },
  source: zeros,
});

export const pipesBinary = output({
  name: 'pipes-binary',
  about: 'Output on pipes, in binary frames',
  size: { full: 256, short: 32 },
  capabilities: { binaryFrames: true },
  source: zeros,
});

export const pty = output({
  name: 'pty',
  about: 'Output on a terminal, in text frames',
  size: { full: 64, short: 8 },
  tty: true,
  source: textFile,
});

export const filesWrite = {
  name: 'files-write',
  about: 'A file written in blocks of 1 MiB, in text frames, four under way',
  prepare: (client, { short, scratch }) => {
    const byteCount = (short ? 16 : 256) * MIB;
    const path = join(scratch, 'written');
    return { unit: gigabytes(byteCount), once: () => secondsOf(() => writeBlocks(client, path, byteCount)) };
  },
};

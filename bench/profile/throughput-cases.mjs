import { join } from 'node:path';
import { openForwarder } from '../lib/forwarder.mjs';
import { textFile } from '../lib/text-file.mjs';
import { MIB, secondsOf, writeBlocks } from '../lib/files.mjs';
import { runOutput } from '../lib/processes.mjs';
import { rounded } from '../lib/stats.mjs';
import { sayThroughput } from './throughput.mjs';

const gigabytes = (byteCount) => ({ name: 'GB', amount: byteCount / 1e9 });

/**
 * Output of a program, in one kind of frames.
 * @param {{
 *   name: string,
 *   about: string,
 *   size: { full: number, short: number },
 *   capabilities?: object,
 *   tty?: boolean,
 *   source: (scratch: string, byteCount: number) => string,
 *   bareName?: string,
 * }} spec
 */
function output({ name, about, size, capabilities, tty = false, source, bareName }) {
  const command = ({ short, scratch }) => {
    const byteCount = (short ? size.short : size.full) * MIB;
    return { byteCount, argv: ['head', '-c', String(byteCount), source(scratch, byteCount)] };
  };
  return {
    name,
    about,
    capabilities,
    prepare: (client, context) => {
      const { byteCount, argv } = command(context);
      const once = () => runOutput(client, { argv, byteCount, tty });
      const say = (rounds, { unit }) => `${sayThroughput(rounds, { unit })}, ${sayMessages(client)}`;
      return { unit: gigabytes(byteCount), once, say };
    },
    ...(bareName ? { bare: (context) => forwarded(bareName, command(context)) } : {}),
  };
}

/** How much a message carries depends on who gets a core when: a server that is never late reads little at a time. */
function sayMessages({ outputBytes, outputMessages }) {
  return `${rounded(outputBytes / outputMessages / 1024)} KiB in a message`;
}

async function forwarded(name, { byteCount, argv }) {
  return { name, unit: gigabytes(byteCount), subject: await openForwarder({ name, argv, byteCount }) };
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
  bareName: 'Node stdout.pipe(socket)',
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

// Makes a recording of many megabytes from the built package, and counts what comes out.
import { historyCues, render } from '../../dist/recording/index.js';

const [format = '', megabytes = '1'] = process.argv.slice(2);
const line =
  '\u001b[32mThe quick brown fox\u001b[0m jumps over the lazy dog, \u00e4\u00f6\u00fc \u6f22\u5b57\r\n';
const bytes = Buffer.from(line.repeat(Math.floor(16_384 / Buffer.byteLength(line))));

async function* history() {
  yield { type: 'start', timeMs: 0, tty: true, size: { rows: 24, cols: 80 } };
  const chunks = (Number(megabytes) * 1e6) / bytes.length;
  for (let index = 0; index < chunks; index += 1) {
    if (index % 100 === 99)
      yield { type: 'resize', timeMs: index, size: { rows: 24 + (index % 7), cols: 80 } };
    yield { type: 'output', timeMs: index, seq: index + 1, stream: 'pty', bytes };
  }
}

let characters = 0;
for await (const piece of render(historyCues(history()), format)) characters += piece.length;
process.stdout.write(JSON.stringify({ characters }));

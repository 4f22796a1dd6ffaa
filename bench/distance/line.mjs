// A line of its own process, so that neither end pays for it: `node line.mjs PORT ROUND_TRIP_MS MBIT_PER_SECOND` prints
// the port of its near end, and ends with its stdin.
import { LineProxy } from '../../testkit/line-proxy.mjs';

const [port, roundTripMs, mbitPerSecond] = process.argv.slice(2).map(Number);
const proxy = new LineProxy({ port }, { roundTripMs, bitsPerSecond: mbitPerSecond * 1e6 });
console.log(await proxy.listen());
process.stdin.resume().on('end', () => process.exit());

// A line in a process of its own, so that neither end pays for it: `node line.mjs PORT ROUND_TRIP_MS MBIT_PER_SECOND` prints
// the port of its near end, and ends with its stdin.
import { FaultProxy } from '../../testkit/fault-proxy.mjs';

const [port, roundTripMs, mbitPerSecond = 0] = process.argv.slice(2).map(Number);
const line = { roundTripMs, bitsPerSecond: mbitPerSecond * 1e6 };
const proxy = await FaultProxy.to(`ws://127.0.0.1:${port}`, { line });
console.log(new URL(proxy.url).port);
process.stdin.resume().on('end', () => process.exit());

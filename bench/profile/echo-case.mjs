import { openEcho } from '../lib/echo.mjs';
import { median, rounded } from '../lib/stats.mjs';
import { number } from '../lib/table.mjs';

/** As many as it takes until the code that serves them is compiled. */
const WARM_UP = { full: 3000, short: 100 };
/** The first of them, before anything is. */
const COLD_COUNT = 500;
const COUNT = { full: 2000, short: 200 };

export const echo = {
  name: 'echo',
  about: '6 bytes typed into `cat`, one line after the other',
  prepare: async (client, { short }) => {
    const echoOnce = await openEcho(client);
    const size = short ? 'short' : 'full';
    const repeat = async (count) => {
      const samples = [];
      while (samples.length < count) samples.push(await echoOnce());
      return samples;
    };
    return {
      unit: { name: 'echo', amount: COUNT[size] },
      warmUp: () => repeat(WARM_UP[size]),
      once: () => repeat(COUNT[size]),
      say: (rounds, { warmed }) => {
        const cold = warmed.slice(0, COLD_COUNT);
        const p50 = (samples) => `${rounded(median(samples))} ms`;
        return `p50 ${p50(rounds.flat())} after ${number(warmed.length)} of them, ${p50(cold)} of the first ${cold.length}`;
      },
    };
  },
};

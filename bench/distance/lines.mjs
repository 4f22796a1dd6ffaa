/** @typedef {{ roundTripMs: number, mbitPerSecond: number }} Line */

const ROUND_TRIPS_MS = [0, 20, 80, 200];
const SLOW = 10;
const FAST = 1000;

/** Every line of the full run: a desk, a country, an ocean, the other side of the earth; a poor access and a good one. */
export const ALL_LINES = [FAST, SLOW].flatMap((mbitPerSecond) =>
  ROUND_TRIPS_MS.map((roundTripMs) => ({ roundTripMs, mbitPerSecond })),
);

/** The lines the goals are about. */
export const SHORT_LINES = [0, 80].map((roundTripMs) => ({ roundTripMs, mbitPerSecond: FAST }));

/** A transfer takes at least this long on a line that is full all the time, so that its beginning is not all there is. */
const TRANSFER_SECONDS = 2;

/** @param {Line} line */
export const lineName = ({ roundTripMs, mbitPerSecond }) => `${roundTripMs} ms, ${mbitPerSecond} Mbit/s`;

/** How many bytes fill a line for two seconds. @param {Line} line */
export const transferBytes = ({ mbitPerSecond }) => (mbitPerSecond * 1e6 * TRANSFER_SECONDS) / 8;

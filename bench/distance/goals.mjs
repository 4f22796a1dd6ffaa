/**
 * @typedef {object} Verdict
 * @property {string} goal
 * @property {number} reached
 * @property {number} limit
 * @property {boolean} held
 */

const OCEAN_MS = 80;
/** Round trips that `run -- true` may take beyond its time without delay. */
const TRIPS_OF_RUN = 3;
/** The share of a bare socket's rate that a large transfer reaches. */
const SHARE_OF_SOCKET = 0.8;
const TIMES_TAR = 2;

/**
 * What is promised at 80 ms on a fast line. `room` widens limits for a machine that does other things meanwhile.
 * @param {import('./measure.mjs').Row[]} rows
 * @returns {Verdict[]}
 */
export function judge(rows, { room = 1 } = {}) {
  const fastest = Math.max(...rows.map(({ line }) => line.mbitPerSecond));
  const seconds = (/** @type {string} */ work, /** @type {string} */ subject, roundTripMs = OCEAN_MS) =>
    rows.find(
      (row) =>
        row.work === work &&
        row.subject === subject &&
        row.line.roundTripMs === roundTripMs &&
        row.line.mbitPerSecond === fastest,
    )?.seconds;

  /** @type {Verdict[]} */
  const verdicts = [];
  const below = (
    /** @type {string} */ goal,
    /** @type {number | undefined} */ reached,
    /** @type {number} */ limit,
  ) => {
    if (reached === undefined || Number.isNaN(reached)) return;
    verdicts.push({ goal, reached, limit: limit * room, held: reached <= limit * room });
  };
  const ratio = (/** @type {number | undefined} */ a, /** @type {number | undefined} */ b) =>
    a === undefined || b === undefined ? undefined : a / b;

  const far = seconds('true', 'execwire');
  const near = seconds('true', 'execwire', 0);
  if (far !== undefined && near !== undefined)
    below(
      '`run -- true`: round trips beyond its time without delay',
      ((far - near) * 1000) / OCEAN_MS,
      TRIPS_OF_RUN,
    );
  for (const work of ['output', 'file-down', 'file-up']) {
    below(
      `${work}: time ÷ bare socket`,
      ratio(seconds(work, 'execwire'), seconds(work, 'bare socket')),
      1 / SHARE_OF_SOCKET,
    );
    below(`${work}: time ÷ codex`, ratio(seconds(work, 'execwire'), seconds(work, 'codex')), 1);
  }
  for (const work of ['tree-down', 'tree-up'])
    below(
      `${work}: time ÷ tar | ssh`,
      ratio(seconds(work, 'execwire'), seconds(work, 'tar | ssh')),
      TIMES_TAR,
    );
  return verdicts;
}

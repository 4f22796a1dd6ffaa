const MIB = 1024 * 1024;

/**
 * How much is measured. Latencies: each round takes `count` samples of a subject or as many as fit into `budgetMs`, so
 * that a slow subject does not set the length of the run. Outputs are sized so that one run takes about a second.
 */
export const FULL = {
  latency: { rounds: 20, count: 100, budgetMs: 400 },
  ready: { rounds: 15, count: 1, budgetMs: 0 },
  pipes: { rounds: 7, byteCount: 256 * MIB },
  pty: { rounds: 7, byteCount: 96 * MIB },
  // Four times what is kept of a process: a flood is mostly output that replaces older output.
  spool: { rounds: 5, byteCount: 1024 * MIB },
  recording: { rounds: 1, byteCount: 1024 * MIB },
  storedLog: { rounds: 5, count: 200, budgetMs: 2000, byteCount: 1000 * MIB },
  join: { rounds: 5, count: 5, budgetMs: 2000 },
  spoolCrowd: { rounds: 3, size: 1000 },
  filesWhole: { rounds: 5 },
  filesStream: { rounds: 3, byteCount: 1024 * MIB },
  filesWalk: { rounds: 5, count: 3, budgetMs: 2000 },
  crowd: { rounds: 3 },
  slowReader: { rounds: 3, byteCount: 256 * MIB },
  forward: { rounds: 5, byteCount: 512 * MIB, count: 200 },
  proxy: { rounds: 5, byteCount: 512 * MIB, count: 500 },
  heldApply: { rounds: 3, count: 2, budgetMs: 5000 },
  left: [],
};

/** For a quick look and for the check of the budgets: the same cases, fewer and smaller. */
export const SHORT = {
  // As many samples a round as in a full run: the first hundreds are those of a program not yet compiled.
  latency: { rounds: 8, count: 100, budgetMs: 100 },
  ready: { rounds: 3, count: 1, budgetMs: 0 },
  pipes: { rounds: 3, byteCount: 64 * MIB },
  pty: { rounds: 3, byteCount: 16 * MIB },
  spool: { rounds: 3, byteCount: 64 * MIB },
  recording: { rounds: 1, byteCount: 64 * MIB },
  storedLog: { rounds: 2, count: 100, budgetMs: 500, byteCount: 64 * MIB },
  join: { rounds: 2, count: 3, budgetMs: 500 },
  spoolCrowd: { rounds: 1, size: 100 },
  filesWhole: { rounds: 1 },
  filesStream: { rounds: 1, byteCount: 128 * MIB },
  filesWalk: { rounds: 1, count: 2, budgetMs: 1000 },
  crowd: { rounds: 1 },
  slowReader: { rounds: 1, byteCount: 64 * MIB },
  forward: { rounds: 3, byteCount: 64 * MIB, count: 50 },
  proxy: { rounds: 3, byteCount: 64 * MIB, count: 500 },
  heldApply: { rounds: 2, count: 1, budgetMs: 0 },
  /** Cases that are run only when named. */
  left: ['crowd-1000', 'held-list', 'held-apply'],
};

// Loaded into a server before anything else: SIGUSR2 moves its wall clock by MOVE_CLOCK_MS, as an administrator or a
// time service would. The monotonic clock, and with it every timer, goes on. With MOVED_CLOCK_FILE, the clock of a server that
// starts is wrong by the number in that file, if there is one.
import { existsSync, readFileSync } from 'node:fs';

const RealDate = Date;
const file = process.env.MOVED_CLOCK_FILE;
let movedMs = file && existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + movedMs);
    else super(...args);
  }

  static now() {
    return RealDate.now() + movedMs;
  }
};

process.on('SIGUSR2', () => {
  movedMs += Number(process.env.MOVE_CLOCK_MS);
  process.stderr.write(`the clock says ${new Date().toISOString()}\n`);
});

/** What the server does every so often it does sooner here: nobody wants to wait for a quarter of a minute. */
const HASTE = 30;
const { setInterval: everySoOften } = globalThis;
globalThis.setInterval = (callback, ms, ...args) => everySoOften(callback, ms / HASTE, ...args);

/** Files read at the same time, for all models of this program: each takes several times as much memory as its answer. */
const MAX_AT_ONCE = 8;

const waiting: (() => void)[] = [];
let reading = 0;

/** Runs as soon as few enough others do. */
export async function inReadingTurn<Result>(read: () => Promise<Result>): Promise<Result> {
  if (reading < MAX_AT_ONCE) reading += 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await read();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else reading -= 1;
  }
}

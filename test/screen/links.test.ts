import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { RecordedScreen } from '../../src/recording/recorded-screen.js';
import { Emulator } from '../../src/screen/emulator.js';

const SIZE = { rows: 24, cols: 80 };
const LINKS = 30_000;
/** Each link that is remembered takes some 3 KB. */
const MOST_BYTES = 20e6;

/** Links that are all different, in one place, as a program makes them that draws its screen all the time. */
const text = Array.from(
  { length: LINKS },
  (_, index) => `\u001b[H\u001b]8;;http://example.org/${index}\u001b\\link\u001b]8;;\u001b\\`,
).join('');

/** Memory in use after everything that can go has gone. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

const SCREENS = {
  'a screen': async () => {
    const emulator = new Emulator(SIZE);
    emulator.write(text);
    return () => emulator.terminal.buffer.active.getLine(0)?.translateToString(true);
  },
  'a recording': async () => {
    const screen = new RecordedScreen({ size: SIZE, scrollback: 100 });
    await screen.draw(text);
    return () => screen.row(0)?.translateToString(true);
  },
};

test.each(Object.keys(SCREENS) as (keyof typeof SCREENS)[])(
  '%s shows links as text, and remembers none',
  async (name) => {
    const before = usedBytes();
    const firstLine = await SCREENS[name]();
    expect(usedBytes() - before).toBeLessThan(MOST_BYTES);
    expect(firstLine()).toBe('link');
  },
);

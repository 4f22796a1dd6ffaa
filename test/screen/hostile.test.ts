import { afterAll, expect, test } from 'vitest';
import { packageFile } from '../../src/host/index.js';
import { ScreenRenderer } from '../../src/screen/index.js';
import { blank } from '../../src/screen/screen-state.js';

const renderer = new ScreenRenderer(packageFile('dist/programs/screen-worker.js'));
afterAll(() => renderer.close());

const SIZE = { rows: 50, cols: 200 };
const MIB = 1024 * 1024;

function fill(sequence: string, bytes = MIB): Uint8Array {
  return Buffer.from(sequence.repeat(Math.ceil(bytes / sequence.length)));
}

const ATTACKS: Record<string, Uint8Array> = {
  'a title without an end': Buffer.concat([Buffer.from('\u001b]2;'), fill('x')]),
  'a device string without an end': Buffer.concat([Buffer.from('\u001bPq'), fill('~')]),
  'characters repeated two thousand million times': fill('x\u001b[2147483647b', 4096),
  'lines inserted without end': fill('\u001b[2147483647L\u001b[2147483647M', 64 * 1024),
  'scrolling without end': fill('\u001b[2147483647S\u001b[2147483647T', 64 * 1024),
  'tabs without end': fill('\u001b[2147483647I\u001b[2147483647Z'),
  'as many parameters as fit': Buffer.concat([Buffer.from('\u001b['), fill('1;'), Buffer.from('m')]),
  'escapes alone': fill('\u001b'),
  'marks on one character': fill('\u0301'),
  'a corner erased': fill('\u001b[50;200Hx\u001b[1J', 64 * 1024),
  'bytes of every kind': Buffer.from(
    Array.from({ length: MIB }, (_, index) => (index * 7919 + (index >> 8)) & 0xff),
  ),
};

test.each(Object.keys(ATTACKS))('%s: the next screen is as good as ever', async (name) => {
  const bytes = new Uint8Array(ATTACKS[name] ?? expect.fail());
  const hostile = await renderer.render({ from: blank(SIZE), inputs: [{ bytes }], shown: true });
  // It may be given up, but not grow: a screen has so many cells.
  expect(hostile?.state.text.length ?? 0).toBeLessThan(MIB);
  const inputs = [{ bytes: new Uint8Array(Buffer.from('hello')) }];
  const next = await renderer.render({ from: blank(SIZE), inputs, shown: true });
  expect(next?.shown).toContain('hello');
});

test('sizes that change all the time', async () => {
  const inputs = Array.from({ length: 64 }, (_, index) => ({
    size: { rows: 1 + (index % 900), cols: 1 + ((index * 37) % 400) },
  }));
  const screen = await renderer.render({ from: blank(SIZE), inputs, shown: true });
  expect(screen?.state.size).toEqual(inputs.at(-1)?.size);
});

import { describe, expect, test } from 'vitest';
import { Emulator } from '../../src/screen/emulator.js';
import { render } from '../../src/screen/render.js';
import { blank } from '../../src/screen/screen-state.js';
import { seededRandom } from '../harness/random.js';
import { facts, restored } from './terminals.js';

const SIZE = { rows: 10, cols: 30 };

/** What programs send to terminals, with numbers in the place of `#`. */
const SEQUENCES = [
  ...['\r\n', '\n', '\b', '\t', 'word ', 'a longer piece of text, longer than a line is wide ', '漢字'],
  ...[
    '\u001b[#;#H',
    '\u001b[#A',
    '\u001b[#C',
    '\u001b[#G',
    '\u001b[#d',
    '\u001b7',
    '\u001b8',
    '\u001bM',
    '\u001bD',
  ],
  ...['\u001b[J', '\u001b[1J', '\u001b[2J', '\u001b[K', '\u001b[1K', '\u001b[#X', '\u001b[#P', '\u001b[#@'],
  ...[
    '\u001b[#L',
    '\u001b[#M',
    '\u001b[#S',
    '\u001b[#T',
    '\u001b[#b',
    '\u001b[3;7r',
    '\u001b[r',
    '\u001b[2;#r',
  ],
  ...['\u001b[m', '\u001b[1;3#m', '\u001b[4#m', '\u001b[7m', '\u001b[38;5;#m', '\u001b[48;2;1;#;3m'],
  ...[
    '\u001b[?1049h',
    '\u001b[?1049l',
    '\u001b[?47h',
    '\u001b[?47l',
    '\u001b[?25l',
    '\u001b[?25h',
    '\u001b[?6h',
  ],
  ...['\u001b[?6l', '\u001b[?7l', '\u001b[?7h', '\u001b[4h', '\u001b[4l', '\u001b[?1h', '\u001b=', '\u001b>'],
  ...[
    '\u001b[?2004h',
    '\u001b[?1002h',
    '\u001b[?1006h',
    '\u001b[?1000l',
    '\u001b[?1004h',
    '\u001b[# q',
    '\u001bH',
  ],
  ...['\u001b(0', '\u001b(B', '\u001b)0', '\u000e', '\u000f', 'qqqq', '\u001b]2;a title\u0007', '\u001b[3g'],
  ...[
    '\u001bPdevice\u001b\\',
    '\u001b[6n',
    '\u001b[c',
    '\u001b[?1007h',
    '\u001b[>4;2m',
    '\u001b[!p',
    '\u001bc',
  ],
];

/**
 * The emulator has ways of its own with a saved cursor: it remembers one for each screen, and the characters in use.
 * So a program here has other characters, a second screen, or saves its cursor itself.
 */
const EXCLUDED: readonly (readonly string[])[] = [
  ['\u001b7', '\u001b8', '\u001b[?1049', '\u001b[?47'],
  ['\u001b7', '\u001b8', '\u001b(0', '\u001b)0', '\u000e', '\u001b[3g'],
  ['\u001b[?1049', '\u001b[?47', '\u001b(0', '\u001b)0', '\u000e'],
];
const WIPES = ['\u001bc', '\u001b[J', '\u001b[2J', '\u001b[!p'];

function program(random: () => number, length: number): Uint8Array {
  let text = '';
  const kind = Math.floor(random() * EXCLUDED.length);
  for (let index = 0; index < length; index += 1) {
    const sequence = SEQUENCES[Math.floor(random() * SEQUENCES.length)] ?? '';
    // Those that wipe everything come less often, or there would be little to compare.
    if (WIPES.includes(sequence) && random() < 0.8) continue;
    if (!EXCLUDED[kind]?.some((start) => sequence.startsWith(start)))
      text += sequence.replace(/#/g, () => String(1 + Math.floor(random() * 9)));
  }
  return new TextEncoder().encode(text);
}

describe('a screen given to a fresh terminal', () => {
  test.each(Array.from({ length: 300 }, (_, seed) => seed))(
    'looks and goes on like the untouched one: program %i',
    (seed) => {
      const random = seededRandom(seed * 7919 + 1);
      const bytes = program(random, 60);
      // Anywhere, also within a sequence or a character.
      const cut = Math.floor(random() * bytes.length);
      using untouched = new Emulator(SIZE);
      untouched.write(bytes.subarray(0, cut));
      const { state, shown } = render({
        from: blank(SIZE),
        inputs: [{ bytes: bytes.subarray(0, cut) }],
        shown: true,
      });
      for (const text of [state.text, shown ?? '']) {
        using joined = restored({ ...state, text });
        expect(facts(joined)).toEqual(facts(untouched));
      }
      using joined = restored(state);
      joined.write(bytes.subarray(cut));
      untouched.write(bytes.subarray(cut));
      expect(facts(joined)).toEqual(facts(untouched));
    },
  );

  test('goes on in the middle of what one sees as one character', () => {
    const bytes = new TextEncoder().encode('\u001b[1mcafe\u0301');
    for (const cut of [bytes.length - 2, bytes.length - 1]) {
      const inputs = [{ bytes: bytes.subarray(0, cut) }];
      using joined = restored(render({ from: blank(SIZE), inputs, shown: false }).state);
      using untouched = new Emulator(SIZE);
      untouched.write(bytes);
      joined.write(bytes.subarray(cut));
      expect(facts(joined)).toEqual(facts(untouched));
    }
  });

  test('grows like the untouched one: lines above the screen come back', () => {
    const text = Array.from({ length: 40 }, (_, line) => `line ${line} ${'x'.repeat(line)}`).join('\r\n');
    const inputs = [{ bytes: new TextEncoder().encode(text) }];
    using joined = restored(render({ from: blank(SIZE), inputs, shown: false }).state);
    using untouched = new Emulator(SIZE);
    untouched.write(text);
    for (const size of [
      { rows: 20, cols: 30 },
      { rows: 15, cols: 50 },
      { rows: 8, cols: 20 },
    ]) {
      joined.resize(size);
      untouched.resize(size);
      expect(facts(joined)).toEqual(facts(untouched));
    }
  });
});

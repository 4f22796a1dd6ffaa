// Needs: python3
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { historyCues, RecordedScreen, render, ScreenPainter } from '../../src/recording/index.js';
import { HOSTILE } from './hostile-text.js';
import { inTurn, joined, output, start } from './make-history.js';

const SIZE = { rows: 10, cols: 120 };

/** What a strict parser finds in documents: their text, and whatever we would not have written ourselves. */
function examine(
  documents: readonly (readonly [kind: 'html' | 'svg' | 'svg-animated', source: string])[],
): [text: string, wrong: string[]][] {
  const script = join(import.meta.dirname, 'strict-markup.py');
  const found: unknown = JSON.parse(
    execFileSync('python3', [script], { input: JSON.stringify(documents), encoding: 'utf8', maxBuffer: 1e9 }),
  );
  return found as [string, string[]][];
}

async function pageOf(kind: 'html' | 'svg' | 'svg-animated' | 'text', text: string): Promise<string> {
  return await joined(
    render(historyCues(inTurn([start(SIZE), output(1, text), output(2, '\u0018\u001b[0m!')])), kind),
  );
}

/** Controls, halves of characters, and what changes the direction of text. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cs}\ufffe\uffff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

describe('hostile output', () => {
  test('the parser of this test sees what is wrong', () => {
    const [plain, scripted, attribute, picture] = examine([
      ['html', '<html><body><pre>a<span style="color:#123456">b</span></pre></body></html>'],
      ['html', '<html><body><pre><script>x</script></pre></body></html>'],
      ['html', '<html><body><pre><span style="x" onclick="y">a</span></pre></body></html>'],
      ['svg', '<svg xmlns="http://www.w3.org/2000/svg"><a href="x"><text>b</text></a></svg>'],
    ]);
    expect(plain).toEqual(['ab', []]);
    expect(scripted?.[1]).not.toEqual([]);
    expect(attribute?.[1]).not.toEqual([]);
    expect(picture?.[1]).not.toEqual([]);
  });

  test('pages and pictures hold nothing but text and colours', { timeout: 60_000 }, async () => {
    const cases = Object.entries(HOSTILE);
    for (const kind of ['html', 'svg', 'svg-animated'] as const) {
      const documents = await Promise.all(
        cases.map(async ([, text]) => [kind, await pageOf(kind, text)] as const),
      );
      const found = examine(documents);
      for (const [index, [name, text]] of cases.entries()) {
        const [shown, wrong] = found[index] ?? ['', ['nothing']];
        expect({ name, kind, wrong }).toEqual({ name, kind, wrong: [] });
        expect({ name, kind, unprintable: UNPRINTABLE.exec(shown) }).toEqual({
          name,
          kind,
          unprintable: null,
        });
        // What is text is shown as it was printed.
        if (/^[ -~]+$/.test(text)) expect(shown).toContain(text);
        expect(documents[index]?.[1].length).toBeLessThan(20_000);
      }
    }
  });

  test('text is only text', async () => {
    for (const [name, text] of Object.entries(HOSTILE))
      expect({ name, found: UNPRINTABLE.exec(await pageOf('text', text)) }).toEqual({ name, found: null });
  });

  test('a terminal that shows a recording hears nothing but positions, colours and text', async () => {
    // Positions, attributes, erasing a line, showing and hiding the cursor.
    // eslint-disable-next-line no-control-regex
    const ours = /\u001b\[(?:\d+;\d+H|[\d;]+m|2K|\?25[hl])/g;
    for (const [name, text] of Object.entries(HOSTILE)) {
      const screen = new RecordedScreen({ size: SIZE, scrollback: 0 });
      const painter = new ScreenPainter();
      let sent = '';
      // Every beginning of it, so that nothing depends on where a chunk ends.
      for (const character of text.slice(0, 16)) {
        await screen.draw(character);
        sent += painter.frame(screen, SIZE);
      }
      await screen.draw(text.slice(16));
      sent += painter.frame(screen, { rows: 3, cols: 5 });
      const rest = sent.replaceAll(ours, '');
      expect({ name, found: UNPRINTABLE.exec(rest) }).toEqual({ name, found: null });
      expect(rest).not.toContain('\n');
    }
  });
});

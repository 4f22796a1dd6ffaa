import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { WebglAddon } from '@xterm/addon-webgl';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { Store } from '../lib/store.js';
import { offerCopy, offerLink } from './offers.js';
import { COLOURS, FOUND } from './terminal-colours.js';
import { copiesSelection, takeTextWithoutKeys } from './terminal-keys.js';

const FONT_PX = 13;
const MIN_FONT_PX = 6;
const SCROLLBACK_LINES = 5_000;
const FONT = 'ui-monospace, "SF Mono", "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';

export interface ShownTerminal {
  readonly terminal: Terminal;
  /** How often the text that is looked for is there, and which of them is shown; null before anything was looked for. */
  readonly found: Store<{ readonly count: number | null; readonly at: number }>;
  /** Shows the next place that contains the text, or the one before, or the one where the last search stopped. */
  find(text: string, where: 'on' | 'back' | 'here'): void;
  /** The size that fills the host. */
  fitting(): { rows: number; cols: number } | null;
  /** Makes a terminal of a given size fit into the host by its letters. */
  shrinkToFit(): void;
  /** Letters of the usual size. */
  useFullSize(): void;
  dispose(): void;
}

/**
 * A terminal in the page. Nothing that a program prints opens a page or reaches the clipboard before somebody agreed: links
 * are shown first, and what should be copied is offered.
 */
export function showTerminal(
  host: HTMLElement,
  { isLive, ...size }: { rows: number; cols: number; isLive: boolean },
): ShownTerminal {
  const terminal = new Terminal({
    ...size,
    fontFamily: FONT,
    fontSize: FONT_PX,
    scrollback: SCROLLBACK_LINES,
    theme: COLOURS,
    allowProposedApi: true,
    // What is drawn on a canvas exists as text, too.
    screenReaderMode: true,
    linkHandler: { activate: (_event, url) => offerLink(url), allowNonHttpProtocols: false },
  });
  const fit = new FitAddon();
  const search = new SearchAddon();
  const found = new Store<{ count: number | null; at: number }>({ count: null, at: 0 });
  search.onDidChangeResults(({ resultCount, resultIndex }) =>
    found.set({ count: resultCount, at: resultIndex }),
  );
  terminal.loadAddon(fit);
  terminal.loadAddon(search);
  terminal.loadAddon(new WebLinksAddon((_event, url) => offerLink(url)));
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  terminal.parser.registerOscHandler(52, (data) => {
    // What was offered long ago is of no use.
    if (isLive) offerCopy(data);
    return true;
  });
  terminal.attachCustomKeyEventHandler((event) => !copiesSelection(terminal, event));
  terminal.open(host);
  if (isLive) takeTextWithoutKeys(terminal);
  useGraphics(terminal);
  return {
    terminal,
    found,
    find: (text, where) => {
      const options = { decorations: FOUND, incremental: where === 'here' };
      if (text === '') search.clearDecorations();
      else if (where === 'back') search.findPrevious(text, options);
      else search.findNext(text, options);
    },
    fitting: () => {
      const found = fit.proposeDimensions();
      return found && found.cols > 1 && found.rows > 1 ? { rows: found.rows, cols: found.cols } : null;
    },
    shrinkToFit: () => shrink(terminal, fit),
    useFullSize: () => {
      terminal.options.fontSize = FONT_PX;
    },
    dispose: () => terminal.dispose(),
  };
}

/** Without a graphics card, the terminal draws with elements. */
function useGraphics(terminal: Terminal): void {
  try {
    const webgl = new WebglAddon();
    webgl.onContextLoss(() => webgl.dispose());
    terminal.loadAddon(webgl);
  } catch {
    // It draws, only slower.
  }
}

function shrink(terminal: Terminal, fit: FitAddon): void {
  terminal.options.fontSize = FONT_PX;
  const room = fit.proposeDimensions();
  if (!room) return;
  const share = Math.min(room.cols / terminal.cols, room.rows / terminal.rows, 1);
  terminal.options.fontSize = Math.max(MIN_FONT_PX, Math.floor(FONT_PX * share * 2) / 2);
}

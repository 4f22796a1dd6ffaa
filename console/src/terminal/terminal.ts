import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { WebglAddon } from '@xterm/addon-webgl';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { harmless } from '../lib/format.js';
import { tell } from '../lib/toasts.js';

const FONT_PX = 13;
const MIN_FONT_PX = 6;
const SCROLLBACK_LINES = 5_000;
/** A program may offer this much for the clipboard. */
const MAX_COPY_CHARS = 1024 * 1024;
const FONT = 'ui-monospace, "SF Mono", "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';

const COLOURS = {
  background: '#0b0e13',
  foreground: '#dfe5ee',
  cursor: '#6ea0ff',
  cursorAccent: '#0b0e13',
  selectionBackground: '#2a4374',
  black: '#1b212a',
  red: '#ff7b7b',
  green: '#5cd699',
  yellow: '#f2c14e',
  blue: '#6ea0ff',
  magenta: '#d29bff',
  cyan: '#56d4dd',
  white: '#dfe5ee',
  brightBlack: '#7d8896',
  brightRed: '#ffa3a3',
  brightGreen: '#8ae6b5',
  brightYellow: '#ffd77a',
  brightBlue: '#9dbfff',
  brightMagenta: '#e3c1ff',
  brightCyan: '#8ae9ef',
  brightWhite: '#ffffff',
};

export interface ShownTerminal {
  readonly terminal: Terminal;
  readonly search: SearchAddon;
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
  terminal.open(host);
  useGraphics(terminal);
  return {
    terminal,
    search,
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

function offerLink(text: string): void {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return;
  const run = (): void => void window.open(url.href, '_blank', 'noopener,noreferrer');
  tell(`Open ${harmless(url.href, 200)}?`, { action: { label: 'Open', run } });
}

/** OSC 52: a program may offer text, never read what is there. */
function offerCopy(data: string): void {
  const encoded = data.slice(data.indexOf(';') + 1);
  if (encoded === '?' || encoded.length > MAX_COPY_CHARS) return;
  let text: string;
  try {
    text = new TextDecoder().decode(Uint8Array.from(atob(encoded), (each) => each.charCodeAt(0)));
  } catch {
    return;
  }
  if (text === '') return;
  const run = (): void => void navigator.clipboard.writeText(text).catch(() => undefined);
  tell(`The program offers text for the clipboard: ${harmless(text, 80)}`, {
    action: { label: 'Copy', run },
  });
}

import { harmless } from '../lib/format.js';
import { tell } from '../lib/toasts.js';

/** A program may offer this much for the clipboard. */
const MAX_COPY_CHARS = 1024 * 1024;

/** A link in a terminal: shown before it is opened. */
export function offerLink(text: string): void {
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
export function offerCopy(data: string): void {
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

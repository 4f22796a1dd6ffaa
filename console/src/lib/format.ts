/** `80 ms`, `3s`, `2m 5s`, `4h 10m`, `3d 2h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** `1 line`, `2,000 lines`. */
export function counted(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
}

/** `14:02:11` for today, with the date for every other day. */
export function moment(atMs: number): string {
  const at = new Date(atMs);
  if (Number.isNaN(at.getTime())) return '';
  const time = at.toLocaleTimeString('en-GB');
  const day = at.toLocaleDateString('sv');
  return day === new Date().toLocaleDateString('sv') ? time : `${day} ${time}`;
}

/** `1:05`, for time lines. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

const SHORT_PATH_CHARS = 28;
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

export function bytes(count: number): string {
  let [value, unit] = [count, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** A command as one would type it. */
export function commandLine(argv: readonly string[]): string {
  return argv.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Characters that would hide or reorder text: shown as what they are. What merely chooses between text and picture, or joins
 * pictures, is left alone.
 */
const INVISIBLE =
  /(?![\ufe0e\ufe0f]|(?<=\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d(?=\p{Extended_Pictographic}))[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;

/** Text of a program or a file name as one harmless line. */
export function harmless(text: string, maxChars = 4096): string {
  const shown = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  return shown.replace(INVISIBLE, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd';
  });
}

/** The same for a line of a file: tabs stay. */
export function harmlessCode(text: string): string {
  return text
    .split('\t')
    .map((part) => harmless(part, 8_192))
    .join('\t');
}

/** Splits a command line as a shell would: quotes and backslashes, nothing else. Null if a quote is not closed. */
export function words(line: string): string[] | null {
  const found: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (quote !== null) {
      if (character === quote) quote = null;
      else if (character === '\\' && quote === '"' && at + 1 < line.length) word += line[(at += 1)] ?? '';
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== null) found.push(word);
      word = null;
    } else word = (word ?? '') + (character === '\\' ? (line[(at += 1)] ?? '') : character);
  }
  if (quote !== null) return null;
  return word === null ? found : [...found, word];
}

/** What a `file:` URI names, for people. */
export function pathOfUri(uri: string): string {
  try {
    return readable(new URL(uri).pathname);
  } catch {
    return uri;
  }
}

/** A part of a URI without its escapes. Bytes that are no text become replacement characters. */
export function readable(part: string): string {
  return part.replaceAll(/(?:%[\da-f]{2})+/gi, (run) => {
    const bytes = run.match(/[\da-f]{2}/gi) ?? [];
    return new TextDecoder().decode(Uint8Array.from(bytes, (each) => Number.parseInt(each, 16)));
  });
}

/** The end of a long path, which says most about it. */
export function shortPath(path: string, home: string | null): string {
  const isBelow = home !== null && home !== '/' && (path === home || path.startsWith(`${home}/`));
  const shown = isBelow ? `~${path.slice(home.length)}` : path;
  const parts = shown.split('/');
  return shown.length > SHORT_PATH_CHARS && parts.length > 3 ? `…/${parts.slice(-2).join('/')}` : shown;
}

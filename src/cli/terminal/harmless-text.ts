const ESCAPE = '\u001b';
/** Colours and other text attributes only change how text looks. */
// eslint-disable-next-line no-control-regex
const ATTRIBUTES = /^\u001b\[[0-9;:]*m$/;
// eslint-disable-next-line no-control-regex
const NO_ATTRIBUTES = /^\u001b\[[0;:]*m$/;
const RESET = '\u001b[0m';
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Introduces text that is meant for the terminal itself. */
const STRING_START = /^[\]PX^_]$/;
/** A sequence longer than this is none. */
const MAX_SEQUENCE_CHARS = 64 * 1024;

/** Where we are, and the first character that does not belong there. */
const END_OF = {
  text: CONTROL,
  /** Right behind an escape character. */
  escape: /[^]/g,
  /** A short sequence with more to come. */
  short: /[^ -/]/g,
  /** The parameters of a control sequence. */
  control: /[^ -?]/g,
  /** Text for the terminal itself. */
  // eslint-disable-next-line no-control-regex
  string: /[\u0007\u0018\u001a\u001b\u009c]/g,
} as const;

/**
 * Removes what would do more to a terminal than show text: cursor movements, queries the terminal would answer as if they were
 * typed, titles, clipboard access. Keeps colours, tabs and line ends. Takes text in pieces and reads every character once.
 */
export class HarmlessText {
  readonly #decoder = new TextDecoder();
  #state: keyof typeof END_OF = 'text';
  /** The sequence so far. */
  #sequence = '';
  #isPlain = true;

  take(bytes: Uint8Array): string {
    return this.#filter(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Nothing follows. What looked like the beginning of a sequence was text, and the terminal gets its colours back. */
  end(): string {
    const shown = this.#filter(this.#decoder.decode()) + this.#giveUp();
    return this.#isPlain ? shown : shown + RESET;
  }

  #filter(text: string): string {
    let shown = '';
    for (let at = 0; at < text.length; ) {
      const end = indexOf(END_OF[this.#state], text, at);
      const run = text.slice(at, end);
      if (this.#state === 'text') shown += run;
      else this.#sequence += run;
      at = end;
      if (this.#sequence.length > MAX_SEQUENCE_CHARS) shown += this.#giveUp();
      else if (at < text.length) {
        shown += this.#meet(text.charAt(at));
        at += 1;
      }
    }
    return shown;
  }

  /** Takes a character that ends the present state. Returns what is to be shown. */
  #meet(character: string): string {
    if (character === ESCAPE) return this.#enter('escape', ESCAPE, '');
    const sequence = this.#sequence + character;
    switch (this.#state) {
      case 'escape':
        if (character === '[') return this.#enter('control', sequence);
        if (STRING_START.test(character)) return this.#enter('string', sequence);
        if (/^[ -/]$/.test(character)) return this.#enter('short', sequence);
        break;
      case 'control':
        if (ATTRIBUTES.test(sequence)) {
          this.#isPlain = NO_ATTRIBUTES.test(sequence);
          return this.#enter('text', '', sequence);
        }
        break;
      case 'string':
      case 'text':
        return this.#enter('text');
      case 'short':
    }
    // A character that cannot be part of a sequence ends it, and is itself.
    return this.#enter('text', '', /^[0-~]$/.test(character) ? '' : withoutControls(character));
  }

  #enter(state: keyof typeof END_OF, sequence = '', shown = ''): string {
    this.#state = state;
    this.#sequence = sequence;
    return shown;
  }

  #giveUp(): string {
    return this.#enter('text', '', withoutControls(this.#sequence));
  }
}

/** Where the pattern next matches; the end of the text if nowhere. */
function indexOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  const index = pattern.exec(text)?.index;
  return index ?? text.length;
}

function withoutControls(text: string): string {
  return text.replace(CONTROL, '');
}

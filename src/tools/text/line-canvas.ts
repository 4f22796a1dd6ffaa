/** Further right than any program draws. Limits how many blanks a hostile cursor move can make us write. */
const MAX_COLUMN = 1_000_000;
const TAB_WIDTH = 8;

/** A terminal line being drawn; overwritten text is gone. Keeps `maxChars` characters and counts the rest. */
export class LineCanvas {
  readonly #maxChars: number;
  #cells: string[] = [];
  #column = 0;
  /** Length of the line before capping. */
  #length = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  get empty(): boolean {
    return this.#length === 0 && this.#column === 0;
  }

  /** Writes printable text at the cursor. */
  put(text: string): void {
    // Beyond the cap only the number of characters matters: endless lines are millions long.
    if (this.#column >= this.#maxChars) this.#column += countCharacters(text);
    else this.#draw(text);
    this.#length = Math.max(this.#length, this.#column);
  }

  carriageReturn(): void {
    this.#column = 0;
  }

  backspace(): void {
    this.moveTo(this.#column - 1);
  }

  tab(): void {
    const target = (Math.floor(this.#column / TAB_WIDTH) + 1) * TAB_WIDTH;
    // At the end of a line a tab stays a tab, so that tables keep their columns.
    if (this.#column >= this.#length) this.put('\t');
    else this.moveTo(target);
  }

  /** Applies a control sequence. Returns false if it moves to another line. */
  control(final: string, parameters: readonly number[]): boolean {
    const count = Math.max(1, parameters[0] || 1);
    switch (final) {
      case 'C':
        this.moveTo(this.#column + count);
        return true;
      case 'D':
        this.moveTo(this.#column - count);
        return true;
      case 'G':
        this.moveTo(count - 1);
        return true;
      case 'K':
        this.#erase(parameters[0] ?? 0);
        return true;
      case 'P':
        this.#cells.splice(this.#column, count);
        this.#length = Math.max(this.#column, this.#length - count);
        return true;
      case '@':
        this.#insertBlanks(count);
        return true;
      case 'J':
        if ((parameters[0] ?? 0) === 0) this.#erase(0);
        return (parameters[0] ?? 0) === 0;
      default:
        return !'ABEFHdf'.includes(final);
    }
  }

  moveTo(column: number): void {
    this.#column = Math.min(Math.max(0, column), MAX_COLUMN);
  }

  /** The current line. If it was capped, it says how much is missing. */
  text(): string {
    return markCapped(this.#cells.join(''), this.#length - this.#maxChars);
  }

  clear(): void {
    this.#cells = [];
    this.#column = 0;
    this.#length = 0;
  }

  #draw(text: string): void {
    for (const character of text) {
      if (this.#column < this.#maxChars) {
        while (this.#cells.length < this.#column) this.#cells.push(' ');
        this.#cells[this.#column] = character;
      }
      this.#column += 1;
    }
  }

  #erase(mode: number): void {
    if (mode === 0) {
      this.#cells.length = Math.min(this.#cells.length, this.#column);
      this.#length = Math.min(this.#length, this.#column);
    } else if (mode === 1) {
      this.#cells.fill(' ', 0, this.#column + 1);
    } else {
      this.#cells = [];
      this.#length = 0;
    }
  }

  #insertBlanks(count: number): void {
    const room = Math.min(count, Math.max(0, this.#maxChars - this.#column));
    if (this.#column >= this.#length) return;
    this.#cells.splice(this.#column, 0, ...Array.from({ length: room }, () => ' '));
    this.#cells.length = Math.min(this.#cells.length, this.#maxChars);
    this.#length += count;
  }
}

/** Counts code points: a surrogate pair is one character. */
function countCharacters(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** Cuts a line to a number of characters and marks the cut. */
export function capLine(line: string, maxChars: number): string {
  // A line never has more characters than UTF-16 units.
  if (line.length <= maxChars) return line;
  const characters = Array.from(line);
  return markCapped(characters.slice(0, maxChars).join(''), characters.length - maxChars);
}

function markCapped(kept: string, missing: number): string {
  return missing > 0 ? `${kept}…[${missing} more characters]` : kept;
}

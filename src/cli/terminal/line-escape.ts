const TILDE = 0x7e;
const LINE_ENDS: readonly number[] = [0x0a, 0x0d];
/** What `~` at the start of a line may be followed by. */
const COMMANDS: ReadonlyMap<number, 'leave' | 'give'> = new Map([
  [0x2e, 'leave'],
  [0x6b, 'give'],
]);

/** Something typed for us, not for the program. */
export type EscapeCommand = 'leave' | 'give';

/**
 * Detects `~.` at the start of a typed line, as ssh does: the way out when the remote side does not respond. `~k` hands the
 * keyboard over, if another client asks for it.
 */
export class LineEscape {
  readonly #mayGive: () => boolean;
  #atLineStart = true;
  #heldTilde = false;

  constructor(options: { readonly mayGive?: () => boolean } = {}) {
    this.#mayGive = options.mayGive ?? (() => false);
  }

  /** Splits what was typed into input to forward, each part perhaps followed by a command. `~~` sends one `~`. */
  *parts(
    input: Uint8Array,
  ): Generator<{ readonly pass: Uint8Array; readonly command?: EscapeCommand }, void> {
    let pass: number[] = [];
    for (const byte of input) {
      if (this.#heldTilde) {
        this.#heldTilde = false;
        const command = COMMANDS.get(byte);
        if (command === 'leave' || (command === 'give' && this.#mayGive())) {
          yield { pass: Uint8Array.from(pass), command };
          pass = [];
          continue;
        }
        if (byte !== TILDE) pass.push(TILDE);
      } else if (byte === TILDE && this.#atLineStart) {
        this.#heldTilde = true;
        continue;
      }
      pass.push(byte);
      this.#atLineStart = LINE_ENDS.includes(byte);
    }
    yield { pass: Uint8Array.from(pass) };
  }
}

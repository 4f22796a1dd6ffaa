/** Counts the tokens of a text. Anything that does that can be plugged in. */
export interface Tokenizer {
  count(text: string): number;
  /** How many bytes a token stands for at the very most, roughly: how much text is kept to choose from. */
  readonly maxBytesPerToken: number;
}

/** What models use on average for English text and code. */
export const BYTES_PER_TOKEN = 4;

/** Four bytes a token: needs no vocabulary, and the same text always costs the same. */
export const byteTokenizer: Tokenizer = {
  count: (text) => tokensOfBytes(Buffer.byteLength(text)),
  maxBytesPerToken: BYTES_PER_TOKEN,
};

export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

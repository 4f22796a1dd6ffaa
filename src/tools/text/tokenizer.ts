/** Counts the tokens of a text. Plug in your model's own. */
export interface Tokenizer {
  count(text: string): number;
  /** Roughly the most bytes one token can stand for. Decides how much text is kept to choose from. */
  readonly maxBytesPerToken: number;
}

/** The average for English text and code. */
export const BYTES_PER_TOKEN = 4;

/** Counts four bytes as one token: needs no vocabulary, and the same text always counts the same. */
export const byteTokenizer: Tokenizer = {
  count: (text) => tokensOfBytes(Buffer.byteLength(text)),
  maxBytesPerToken: BYTES_PER_TOKEN,
};

export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

import { countTokens } from 'gpt-tokenizer';

/** Text is counted in pieces: the time of a tokenizer grows faster than a line without spaces does. */
const PIECE_CHARS = 4096;

/** Tokens as OpenAI's current models count them. Others differ by a few per cent, and for all texts alike. */
export function tokensOf(text) {
  let tokens = 0;
  for (let at = 0; at < text.length; at += PIECE_CHARS)
    tokens += countTokens(text.slice(at, at + PIECE_CHARS));
  return tokens;
}

/** Keeps count of what a model would have paid: every call, what it sent and what it got back. */
export class Ledger {
  calls = 0;
  tokens = 0;
  startedAt = performance.now();

  /** `run` does the call and returns its answer as the text a model reads. */
  async call(name, args, run) {
    this.calls += 1;
    this.tokens += tokensOf(JSON.stringify({ name, arguments: args }));
    const answer = await run();
    this.tokens += tokensOf(answer.text);
    return answer;
  }

  entry() {
    const seconds = (performance.now() - this.startedAt) / 1000;
    return { calls: this.calls, tokens: this.tokens, seconds: Number(seconds.toFixed(1)) };
  }
}

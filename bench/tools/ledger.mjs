/** Four bytes a token, as the tools themselves count. */
const BYTES_PER_TOKEN = 4;

export function tokensOf(text) {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
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

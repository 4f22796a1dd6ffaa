import { expect, test } from 'vitest';
import type { ExecProcess } from '../../src/contract/index.js';
import { byteTokenizer } from '../../src/tools/index.js';
import { LiveOutput } from '../../src/tools/session/live-output.js';
import { ToolSession } from '../../src/tools/session/tool-session.js';
import { Transcript } from '../../src/tools/session/transcript.js';
import { waitForPrompt } from '../../src/tools/yield-window.js';
import { LocalEnvironment } from '../../src/environment/index.js';

/** Checks after which a wait that only looks at the program would long be over. */
const CHECKS = 4;

/** Takes output in only when told to, as on a machine whose disk is busy. */
class StalledTranscript extends Transcript {
  readonly #go: Promise<void>;

  constructor(go: Promise<void>) {
    super();
    this.#go = go;
  }

  override async append(bytes: Uint8Array): Promise<void> {
    await this.#go;
    await super.append(bytes);
  }
}

test('a prompt counts only once everything printed before it is in the transcript', async () => {
  await using environment = new LocalEnvironment();
  const process = await environment.start({
    argv: ['sh', '-c', 'seq 1 2000; printf "name: "; read x'],
    cwd: '/',
    tty: true,
  });
  let go: () => void = () => undefined;
  const transcript = new StalledTranscript(new Promise((resolve) => (go = resolve)));
  let checks = 0;
  const counted: ExecProcess = Object.assign(Object.create(process), {
    inspect: async () => {
      checks += 1;
      if (checks === CHECKS) go();
      return await process.inspect?.();
    },
    events: () => process.events(),
    read: (request: object) => process.read(request),
  });
  const live = new LiveOutput({ maxLineChars: 80, tokenizer: byteTokenizer, viewTokens: 100 });
  const session = new ToolSession({ id: 1, command: 'seq', process: counted, transcript, live });
  await waitForPrompt(session, { signal: new AbortController().signal, everyMs: 10 });
  expect(checks).toBeGreaterThanOrEqual(CHECKS);
  const printed = Array.from({ length: 2000 }, (_, index) => `${index + 1}\r\n`).join('');
  expect(transcript.end).toBe(printed.length + 'name: '.length);
  await process[Symbol.asyncDispose]();
});

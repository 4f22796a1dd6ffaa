import type { Channel, ChannelReceiver, CloseReason, OutgoingMessage, PartPlace } from '../rpc/index.js';
import { LineChannel } from './lines.js';
import { endGroup } from './program-group.js';
import type { ProgramChild } from './program.js';

/** A greeting is forgiven up to these bounds; more than that is not a program that speaks the protocol. */
const MAX_NOISE_LINES = 100;
const MAX_NOISE_CHARS = 64 * 1024;

/** How long the last messages of a program that has ended may take to be read. */
const LAST_WORDS_MS = 500;

/** Stands for the end of the program by itself, whose status is known once it is gone. */
const ENDED: CloseReason = { clean: false, message: 'the program ended' };

/** What a write to a program that is gone fails with. Its status says more. */
const BROKEN_PIPE = /\b(?:EPIPE|ECONNRESET)\b/;

/** Messages over the standard streams of a program, whose process group it owns. */
export class ProgramChannel implements Channel {
  readonly label: string;
  readonly #child: ProgramChild;
  readonly #lines: LineChannel;
  readonly #onWarning: (message: string) => void;
  #receiver: ChannelReceiver | undefined;
  #noiseLines = 0;
  #noiseChars = 0;
  #spoken = false;
  readonly #closed: Promise<void>;
  #ending: Promise<void> | undefined;
  #ended: CloseReason | undefined;

  constructor(options: { child: ProgramChild; label: string; onWarning: (message: string) => void }) {
    this.label = options.label;
    this.#child = options.child;
    this.#onWarning = options.onWarning;
    this.#lines = new LineChannel({
      label: options.label,
      input: options.child.stdout,
      output: options.child.stdin,
    });
    // Errors of stdin before anybody listens: a program that ended at once. The channel reports the end.
    options.child.stdin.on('error', () => undefined);
    this.#closed = new Promise((resolve) => options.child.once('close', () => resolve()));
    // Usually stdout ends with the program. Something it left behind may keep it open.
    options.child.once('exit', () => {
      const timer = setTimeout(() => this.#end({ reason: ENDED, now: false }), LAST_WORDS_MS);
      void this.#closed.then(() => clearTimeout(timer));
    });
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    const ended = this.#ended;
    if (ended) setImmediate(() => receiver.closed(ended));
    this.#lines.open({
      message: (text) => this.#take(text),
      closed: (reason) => {
        const ended = reason.clean || BROKEN_PIPE.test(reason.message);
        this.#end({ reason: ended ? ENDED : reason, now: false });
      },
    });
  }

  send(message: OutgoingMessage, flushed: () => void): void {
    if (!this.#ending) this.#lines.send(message, flushed);
  }

  sendPart(part: Uint8Array, place: PartPlace, flushed: () => void): void {
    if (!this.#ending) this.#lines.sendPart(part, place, flushed);
  }

  pause(): void {
    this.#lines.pause();
  }

  resume(): void {
    this.#lines.resume();
  }

  close(reason: string): void {
    this.#end({ reason: { clean: true, message: reason }, now: false });
  }

  reject(reason: string): void {
    this.close(reason);
  }

  destroy(reason: string): void {
    this.#end({ reason: { clean: false, message: reason }, now: true });
  }

  /** Lines before the first message may be a greeting. Behind it, anything else than a message breaks the protocol. */
  #take(line: string): void {
    if (this.#ending) return;
    if (line.trimStart().startsWith('{')) {
      this.#spoken = true;
      this.#receiver?.message(line);
      return;
    }
    this.#noiseLines += 1;
    this.#noiseChars += line.length;
    if (this.#spoken) this.#breach('the program wrote something else than a message to its stdout');
    else if (this.#noiseLines > MAX_NOISE_LINES || this.#noiseChars > MAX_NOISE_CHARS) {
      this.#breach('the program does not speak the protocol on its stdout');
    } else {
      this.#onWarning(`${this.label}: skipped a line of ${line.length} characters before the first message`);
    }
  }

  #breach(message: string): void {
    this.#end({ reason: { clean: false, message }, now: false });
  }

  /** The channel has ended when the program has: whoever waits for the one may rely on the other. */
  #end({ reason, now }: { reason: CloseReason; now: boolean }): void {
    this.#ending ??= endGroup({ child: this.#child, closed: this.#closed, now }).then(() => {
      this.#ended = reason === ENDED ? this.#howItEnded() : reason;
      this.#receiver?.closed(this.#ended);
    });
  }

  #howItEnded(): CloseReason {
    const { exitCode, signalCode } = this.#child;
    if (signalCode !== null) return { clean: false, message: `the program was killed by ${signalCode}` };
    return { clean: exitCode === 0, message: `the program ended with exit status ${exitCode ?? 'unknown'}` };
  }
}

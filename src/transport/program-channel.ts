import type { Channel, ChannelReceiver, CloseReason, OutgoingMessage, PartPlace } from '../rpc/index.js';
import { LineChannel } from './lines.js';
import { endGroup, type ProgramChild } from './program-group.js';

/** A greeting is tolerated up to these limits; a program that prints more does not speak the protocol. */
const MAX_NOISE_LINES = 100;
const MAX_NOISE_CHARS = 64 * 1024;

/** How long reading the last messages of a program may take after it exited. */
const LAST_WORDS_MS = 500;

/** Placeholder for a program that exited by itself, until its exit status is known. */
const ENDED: CloseReason = { clean: false, message: 'the program ended' };

/** A write to a program that is gone fails with one of these. Its exit status is more informative. */
const BROKEN_PIPE = /\b(?:EPIPE|ECONNRESET)\b/;

/** Messages over the standard streams of a program. Owns the program's process group. */
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
    // Errors on stdin before anything listens mean that the program exited immediately. The channel reports that.
    options.child.stdin.on('error', () => undefined);
    this.#closed = new Promise((resolve) => options.child.once('close', () => resolve()));
    // Stdout usually ends with the program, but a process it left behind may keep it open.
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

  /** Lines before the first message may be a greeting. After it, anything but a message violates the protocol. */
  #take(line: string): void {
    if (this.#ending) return;
    if (line.trimStart().startsWith('{')) {
      this.#spoken = true;
      this.#receiver?.message(line);
      return;
    }
    this.#noiseLines += 1;
    this.#noiseChars += line.length;
    if (this.#spoken) this.#breach('the program wrote something other than a message to its stdout');
    else if (this.#noiseLines > MAX_NOISE_LINES || this.#noiseChars > MAX_NOISE_CHARS) {
      this.#breach('the program does not speak the protocol on its stdout');
    } else {
      this.#onWarning(`${this.label}: skipped a line of ${line.length} characters before the first message`);
    }
  }

  #breach(message: string): void {
    this.#end({ reason: { clean: false, message }, now: false });
  }

  /** The channel ends only after the program has, so that waiting for one implies the other. */
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

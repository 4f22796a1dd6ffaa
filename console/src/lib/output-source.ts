import type { RemoteEnvironment } from '../../../src/client/index.js';
import type { ExecProcess, OutputLine, OutputSearch } from '../../../src/contract/index.js';
import { decodeBase64 } from '../../../src/protocol/index.js';
import { attachTo, type ProcessPlace } from './attach.js';
import { messageOf } from './errors.js';
import { Store } from './store.js';

export interface OutputState {
  readonly phase: 'loading' | 'following' | 'closed' | 'failed';
  readonly problem: string | null;
  readonly totalLines: number;
  /** Grows when lines have arrived. */
  readonly version: number;
}

export const LOADING: OutputState = { phase: 'loading', problem: null, totalLines: 0, version: 0 };

/** Lines of one page, as fetched from the server. */
const PAGE_LINES = 500;
/** Pages in memory: some 20,000 lines around what somebody looks at. */
const MAX_PAGES = 40;
const MAX_LINE_BYTES = 8_192;
const POLL_MS = 20_000;
/** More places are not looked for. */
export const MAX_MATCHES = 500;
/** What is fetched at a time for a download. */
const PART_BYTES = 1024 * 1024;
/** What the first error is looked for by. */
const ERROR_PATTERN = '\\b(error|fatal|failed|exception|panic|traceback)\\b';

/** The output of a process by line, fetched where somebody looks. Everything stays on the server. */
export class OutputSource {
  readonly state = new Store(LOADING);
  readonly #pages = new Map<number, readonly OutputLine[]>();
  readonly #fetching = new Set<number>();
  readonly #abort = new AbortController();
  #environment: RemoteEnvironment | undefined;
  #child: ExecProcess | undefined;

  constructor(place: ProcessPlace) {
    void this.#run(place);
  }

  /** A line by its number, if it is here. If not, it is fetched. */
  line(number: number): OutputLine | undefined {
    const page = Math.floor((number - 1) / PAGE_LINES);
    const lines = this.#pages.get(page);
    if (!lines) void this.#fetch(page);
    return lines?.find(({ line }) => line === number);
  }

  /** Searches all of the output, on the server. */
  async search(pattern: string): Promise<readonly OutputLine[]> {
    return await this.#find({ pattern, maxLineBytes: 256 }, MAX_MATCHES);
  }

  async firstError(): Promise<number | null> {
    const [first] = await this.#find({ pattern: ERROR_PATTERN, regex: true }, 1);
    return first?.line ?? null;
  }

  /** All of it, for a file. */
  async *bytes(): AsyncGenerator<Uint8Array, void> {
    const [client, processId] = [this.#environment?.client, this.#child?.processId];
    if (!client || processId === undefined) return;
    for (let afterSeq = 0; ; ) {
      const page = await client.call('process/read', { processId, afterSeq, maxBytes: PART_BYTES });
      for (const { chunk } of page.chunks) yield decodeBase64(chunk, 'protocolViolation');
      if (page.chunks.length === 0 || page.nextSeq - 1 <= afterSeq) return;
      afterSeq = page.nextSeq - 1;
    }
  }

  /** One answer covers a part of a long output: asks until all of it was searched, or enough was found. */
  async #find(what: OutputSearch, maxMatches: number): Promise<readonly OutputLine[]> {
    const matches: OutputLine[] = [];
    let cursor: { cursor?: string } = {};
    while (this.#child && !this.#abort.signal.aborted && matches.length < maxMatches) {
      const request = { ...what, ...cursor, caseSensitive: false, maxMatches: maxMatches - matches.length };
      const found = await this.#child.search(request);
      matches.push(...found.matches);
      if (found.atEnd) break;
      cursor = { cursor: found.cursor };
    }
    return matches;
  }

  close(): void {
    this.#abort.abort();
    void this.#environment?.close();
  }

  async #run(place: ProcessPlace): Promise<void> {
    try {
      this.#environment = await place.machine.connect();
      this.#child = await attachTo(this.#environment, place);
      await this.#follow(this.#child);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#set({ phase: 'failed', problem: messageOf(error) });
    }
  }

  /** Waits for the line behind the last one, as long as there can be one. */
  async #follow(child: ExecProcess): Promise<void> {
    let from = 1;
    let waitMs = 0;
    for (;;) {
      const { signal } = this.#abort;
      const page = await child.readLines({
        from,
        to: from + PAGE_LINES - 1,
        maxLineBytes: MAX_LINE_BYTES,
        waitMs,
        signal,
      });
      if (signal.aborted) return;
      this.#pages.delete(Math.floor((page.totalLines - 1) / PAGE_LINES));
      this.#pages.delete(Math.floor((from - 1) / PAGE_LINES));
      this.#set({
        phase: page.closed ? 'closed' : 'following',
        totalLines: page.totalLines,
        version: this.state.value.version + 1,
      });
      if (page.closed) return;
      from = page.totalLines + 1;
      waitMs = POLL_MS;
    }
  }

  async #fetch(page: number): Promise<void> {
    if (!this.#child || this.#fetching.has(page)) return;
    this.#fetching.add(page);
    try {
      const from = page * PAGE_LINES + 1;
      const lines: OutputLine[] = [];
      let next: number | null = from;
      while (next !== null) {
        const answer: Awaited<ReturnType<ExecProcess['readLines']>> = await this.#child.readLines({
          from: next,
          to: from + PAGE_LINES - 1,
          maxLineBytes: MAX_LINE_BYTES,
        });
        lines.push(...answer.lines);
        next = answer.nextLine;
      }
      this.#pages.set(page, lines);
      this.#makeRoom();
      this.#set({ version: this.state.value.version + 1 });
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#set({ problem: messageOf(error) });
    } finally {
      this.#fetching.delete(page);
    }
  }

  #makeRoom(): void {
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) return;
      this.#pages.delete(page);
    }
  }

  #set(change: Partial<OutputState>): void {
    if (!this.#abort.signal.aborted) this.state.update((state) => ({ ...state, ...change }));
  }
}

import type {
  ArchivedOutput,
  ChunkPlace,
  HistoryPage,
  HistoryRequest,
  LineMark,
  LogArchive,
  MarkRequest,
} from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';
import { type HistorySource, historyPage } from './history-page.js';
import { bytesAt, chunkAt, markBefore, offsetSince } from './segment-lines.js';
import type { SegmentReader } from './segment-reader.js';

type Reads = Pick<LogArchive, 'after' | 'bytesAt' | 'chunkAt' | 'offsetSince' | 'markBefore' | 'history'>;

/** The reading half of an archive: output of a running process on disk. Unreadable output counts as gone. */
export abstract class ReadableOutput implements Reads {
  protected abstract readonly reader: SegmentReader;
  /** The parts of a history other than the output. */
  protected abstract readonly known: Omit<HistorySource, 'reader'>;

  /** Called when files were opened that can soon be closed. */
  protected abstract filesOpened(): void;

  /** Called when reading failed. Must leave the reader without segments. */
  protected abstract unreadable(error: unknown): void;

  after(seq: number): ArchivedOutput | undefined {
    return this.#read((reader) => reader.output(reader.find((entry) => entry.seq > seq)));
  }

  bytesAt(offset: number, maxBytes: number): { offset: number; bytes: Uint8Array } | undefined {
    return this.#read((reader) => bytesAt(reader, offset, maxBytes));
  }

  chunkAt(offset: number): ChunkPlace | undefined {
    return this.#read((reader) => chunkAt(reader, offset));
  }

  offsetSince(timeMs: number): number | undefined {
    return this.#read((reader) => offsetSince(reader, timeMs));
  }

  markBefore(wanted: MarkRequest): LineMark | undefined {
    return this.#read((reader) => markBefore(reader, wanted));
  }

  history(request: HistoryRequest): HistoryPage {
    const source = { reader: this.reader, ...this.known };
    try {
      return historyPage(source, request);
    } catch (error) {
      if (isExecError(error)) throw error;
      this.unreadable(error);
      return historyPage(source, request);
    } finally {
      this.filesOpened();
    }
  }

  #read<Found>(find: (reader: SegmentReader) => Found | undefined): Found | undefined {
    try {
      const found = find(this.reader);
      if (this.reader.isOpen) this.filesOpened();
      return found;
    } catch (error) {
      this.unreadable(error);
      return undefined;
    }
  }
}

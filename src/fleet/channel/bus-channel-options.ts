import type { BusShares } from './shares.js';

/** Counts what is kept of a message that has begun and not ended. */
export interface UnfinishedPart {
  readonly grow: (bytes: number) => void;
  readonly forget: () => void;
}

export interface BusChannelOptions {
  readonly label: string;
  /** What the other side granted at first. */
  readonly credit: number;
  /** What we granted it. */
  readonly granted: number;
  readonly shares: BusShares;
  readonly unfinished: UnfinishedPart;
  /** Sends one datagram, which may get lost. `asks`: report if there is no receiver. */
  readonly post: (datagram: Buffer, options: { asks: boolean }) => void;
  /** Resolves when everything posted has left this process. */
  readonly flush: () => Promise<void>;
  /** Called once, when the channel has ended. */
  readonly ended: () => void;
}

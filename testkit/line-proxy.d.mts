/** A line between two programs on this machine: every byte arrives later, and no faster than the bandwidth. */
export class LineProxy {
  constructor(
    target: { port: number; host?: string },
    line?: { roundTripMs?: number; bitsPerSecond?: number },
  );
  /** Bytes that came through, both ways. */
  bytes: number;
  /** Round trips the near side has waited for, one after the other: the most of any connection. */
  roundTrips: number;
  /** Resolves to the port it listens on. */
  listen(): Promise<number>;
  /** Cuts every connection. */
  cut(): void;
  close(): Promise<void>;
}

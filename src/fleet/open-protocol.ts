import { z } from 'zod';

/** What a client sends to open a channel. */
export const OpenRequest = z.object({
  /** The connection and the channel, as in their subjects. */
  connection: z.string().regex(/^[A-Za-z0-9]{8,32}$/),
  channel: z.string().regex(/^[a-z0-9]{1,16}$/),
  /** What the machine may send before it hears from the client. */
  credit: z.number().int().nonnegative(),
});

export type OpenRequest = z.output<typeof OpenRequest>;

/** The machine's answer. */
export const OpenAnswer = z.union([
  z.object({
    /** Which of the machine's runs has accepted the channel; part of its subjects from now on. */
    epoch: z.string().regex(/^[a-z0-9]{1,16}$/),
    credit: z.number().int().nonnegative(),
  }),
  z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
]);

export type OpenAnswer = z.output<typeof OpenAnswer>;

/** The last part of a channel's subjects. It names the run, so that an earlier or later one does not feel addressed. */
export function channelToken({ connection, channel }: OpenRequest, epoch: string): string {
  return `${connection}.${channel}-${epoch}`;
}

/** The run that a channel token belongs to, as a number. */
export function epochOf(subject: string): number {
  return Number.parseInt(subject.slice(subject.lastIndexOf('-') + 1), 36);
}

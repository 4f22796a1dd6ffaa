import { dialWire, type WireClient } from '../../testkit/wire-client.mjs';

/** Connects again and again, as a client does whose server is being started. */
export async function reconnect(
  url: string,
  options: { resumeSessionId?: string } = {},
): Promise<WireClient & { id: string }> {
  for (;;) {
    try {
      const { client } = await dialWire(url);
      return Object.assign(client, { id: await client.handshake(options) });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { socketWire, type Wire, WireClient } from '../../testkit/wire-client.mjs';

/** A wire that can also be left without a word. */
export interface CuttableWire extends Wire {
  cut(): void;
}

/** Connects to a `ws:` or `unix:` URL and keeps nothing of what arrives. */
export async function openWire(url: string): Promise<CuttableWire> {
  const target = url.startsWith('unix://') ? `ws+unix://${url.slice('unix://'.length)}:/` : url;
  const socket = new WebSocket(target, { perMessageDeflate: false });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return {
    ...socketWire(socket),
    cut: () => {
      socket.removeAllListeners('close');
      socket.terminate();
    },
  };
}

/** Makes the handshake of the exec protocol. */
export async function handshaken(wire: Wire): Promise<void> {
  let listener: (text: string) => void = () => undefined;
  const early = new WireClient({ ...wire, onText: (each) => (listener = each) });
  wire.onText((text) => listener(text));
  await early.handshake();
  listener = () => undefined;
}

import type { Environment } from '../../contract/index.js';
import { drawScreen } from '../terminal/draw-screen.js';
import { rejoin } from '../terminal/rejoin.js';
import { typeTo } from '../terminal/type-to.js';
import { findKept, requireServer } from './kept.js';
import type { Begun } from './run-attached.js';

/** Attaches to the kept process with this id or prefix. */
export async function keptWith(environment: Environment, id: string): Promise<Begun> {
  const server = await requireServer(environment);
  const { processId, tty } = findKept(await server.kept(), id);
  if (!tty || !process.stdout.isTTY) return { child: await server.attach(processId) };
  if (server.client.serverCapabilities.viewers) {
    const child = await server.attach(processId, { screen: true, keyboard: 'take' });
    const redraw: Begun['missed'] = async (shown) => await drawScreen(child, shown);
    return { child, write: typeTo(child), onceRaw: redraw, missed: redraw };
  }
  const { child, past } = await server.attachLate(processId);
  return { child, onceRaw: () => rejoin(child, past) };
}

/** Tells the user who started a kept process when another client asks for its keyboard. */
export async function withKeyboard(environment: Environment, begun: Begun): Promise<Begun> {
  const server = await requireServer(environment);
  const { child } = begun;
  if (!child.tty || !server.client.serverCapabilities.viewers) return begun;
  await child.keyboard?.take();
  return { ...begun, write: typeTo(child) };
}

import { useEffect, useState } from 'preact/hooks';
import type { ListeningPort } from '../../../src/contract/index.js';
import { messageOf } from './errors.js';
import type { Machine } from './machine.js';
import type { Loaded } from './opened.js';
import { call } from './session.js';
import { useStore } from './store.js';

/** A port that this browser has opened. */
export interface OpenedPort {
  readonly machine: string;
  readonly port: number;
  readonly processId: string | null;
}

/** Opens a port in a new tab. It has an origin of its own there, and no way back to this page. */
export async function openPort(machine: Machine, { port, processId }: ListeningPort): Promise<void> {
  const { url } = await call<{ url: string }>('POST', '/api/ports/open', {
    machine: machine.id,
    port,
    processId,
  });
  window.open(url, '_blank', 'noopener,noreferrer');
}

export async function closePort({ machine, port, processId }: OpenedPort): Promise<void> {
  await call('POST', '/api/ports/close', { machine, port, processId });
}

export async function openedPorts(): Promise<readonly OpenedPort[]> {
  return (await call<{ ports: OpenedPort[] }>('GET', '/api/ports')).ports;
}

/** Who listens where on a machine, kept current. */
export function usePorts(machine: Machine): Loaded<readonly ListeningPort[]> {
  const [found, setFound] = useState<Loaded<readonly ListeningPort[]>>({});
  const { status } = useStore(machine.state);
  useEffect(() => {
    if (status !== 'online') return undefined;
    let isOver = false;
    let stop = (): void => undefined;
    const run = async (): Promise<void> => {
      const watch = await machine.environment.watchPorts({ scope: 'machine' });
      stop = () => void watch.close();
      if (isOver) return stop();
      const open = new Map<string, ListeningPort>();
      setFound({ value: [] });
      for await (const { type, ...port } of watch) {
        if (type === 'opened') open.set(keyOf(port), port);
        else open.delete(keyOf(port));
        if (!isOver) setFound({ value: [...open.values()].sort((a, b) => a.port - b.port) });
      }
    };
    run().catch((error: unknown) => isOver || setFound({ problem: messageOf(error) }));
    return () => {
      isOver = true;
      stop();
    };
  }, [machine, status]);
  return found;
}

export function keyOf({ port, address, pid, processId, sandboxed }: ListeningPort): string {
  return [port, address, pid, processId, sandboxed].join(' ');
}

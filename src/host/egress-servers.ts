import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { AskAboutHost, HostAnswers, Proxy } from './network/index.js';
import type { NetworkDenials } from './network-denials.js';
import { isOwnDoor } from './peer/index.js';
import type { NetworkUse } from './egress.js';
import { ExecError } from '../protocol/errors.js';

/** Answers connections from inside. */
export interface PortServer {
  serve(socket: Socket): void;
  close(): void;
}

/** Who answers inside, on a port each. */
export interface Answering {
  /** Programs with the same one share a network. */
  readonly key: string;
  readonly servers: readonly PortServer[];
}

/** Loaded where it is needed: most programs have the whole network or none. */
export const networkRoom = (): Promise<typeof import('./network/index.js')> => import('./network/index.js');

/** The proxy of one program, which lets it reach what its rules and answers allow. */
export async function ruledProxy(
  use: NetworkUse,
  denials: NetworkDenials,
  answers: HostAnswers,
): Promise<Answering & { readonly namesLoopback: boolean }> {
  const { rules, onDecided, socks } = use;
  const { Gate, Proxy } = await networkRoom();
  const decide = use.decide ?? (use.ask === undefined ? undefined : answers.decider(use.ask ?? noAnswer));
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const gate = new Gate(rules, {
    decide: decide && ((request) => decide(request, over.signal)),
    onDecided: (decided) => {
      denials.note(decided);
      onDecided?.(decided);
    },
    isOwnDoor,
  });
  const proxy = new Proxy(gate, { socks });
  // A program that may ask for hosts can do more than one that may not.
  const key = JSON.stringify([rules, decide !== undefined]);
  return { key, servers: [endingWith(proxy, over)], namesLoopback: gate.namesLoopback };
}

/** Bridges to proxies that listen on these ports of loopback. */
export async function bridgesTo(ports: readonly number[]): Promise<Answering> {
  const { Bridge } = await networkRoom();
  if (ports.length === 0 || ports.some((port) => isOwnDoor('127.0.0.1', port))) throw noProxy();
  return { key: JSON.stringify(ports), servers: ports.map((port) => new Bridge(port)) };
}

const noAnswer: AskAboutHost = () => Promise.resolve(null);

/** Its questions end with it. */
function endingWith(proxy: Proxy, over: AbortController): PortServer {
  return {
    serve: (socket) => proxy.serve(socket),
    close: () => {
      over.abort();
      proxy.close();
    },
  };
}

function noProxy(): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    'The network is to be enforced, but the request names no proxy. Nothing was run.',
    {
      data: {
        reason: 'managedNetwork',
        hint: 'Send `networkProxy`, or name a proxy on loopback in the variables of the program.',
      },
    },
  );
}

import { isIP } from 'node:net';
import { ExecError } from '../protocol/errors.js';

/** Where a server listens. */
export type ListenAddress =
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      /** Requested with `wss://`: must never be served in plain text. */
      readonly secure?: true;
    }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'stdio' };

/** Parses `ws://IP:PORT`, `wss://IP:PORT`, `unix:///PATH`, `stdio` or `stdio://`. */
export function parseListenAddress(text: string): ListenAddress {
  if (text === 'stdio' || text === 'stdio://') return { kind: 'stdio' };
  const unix = /^unix:\/\/(\/.+)$/.exec(text);
  if (unix?.[1]) return { kind: 'unix', path: unix[1] };
  const tcp = /^(wss?):\/\/(?:\[([^\]]+)\]|([^:/]+)):(\d{1,5})$/.exec(text);
  const host = tcp?.[2] ?? tcp?.[3];
  const port = Number(tcp?.[4]);
  if (!host || port > 65_535) {
    throw new ExecError(
      'invalidConfiguration',
      `Cannot listen on "${text}": use ws://IP:PORT, wss://IP:PORT, unix:///PATH or stdio.`,
    );
  }
  if (isIP(host) === 0) {
    throw new ExecError(
      'invalidConfiguration',
      `Cannot listen on "${text}": the host must be an IP address, such as 127.0.0.1.`,
    );
  }
  return { kind: 'tcp', host, port, ...(tcp?.[1] === 'wss' ? { secure: true } : {}) };
}

export function isLoopback(host: string): boolean {
  return host === '::1' || host.startsWith('127.') || /^::ffff:127\./i.test(host);
}

export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** A host as written in a URL. */
export function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { commandName } from '../command-name.js';
import type { AuthFlags } from '../options/auth-options.js';
import { shellWord } from '../terminal/shell-word.js';

/** What the clients of a server need to know. */
export type ClientFacts = Pick<AuthFlags, 'wsAuth' | 'wsTokenFile'> & { readonly tlsCert?: string };

/** Tells how to use a server, in commands that work as they are printed. */
export function nextSteps(url: string, facts: ClientFacts): string {
  const self = `${certificateVariable(facts)}${commandName()}`;
  const target = `-e ${shellWord(reachable(url))}${tokenOption(facts)}`;
  const codex =
    facts.wsAuth === undefined && !url.startsWith('unix:')
      ? [`  let Codex run its commands here: CODEX_EXEC_SERVER_URL=${url} codex`]
      : [];
  return [
    '',
    `Serving this machine on ${url}. Press Ctrl-C to stop.`,
    `  run a command here:              ${self} run ${target} -- uname -a`,
    `  open a shell here:               ${self} shell ${target}`,
    ...codex,
    '',
  ].join('\n');
}

function tokenOption({ wsAuth, wsTokenFile }: ClientFacts): string {
  if (wsAuth === undefined) return '';
  return ` --token-file ${wsTokenFile === undefined ? 'FILE' : shellWord(resolve(wsTokenFile))}`;
}

/** A client on this machine does not trust a certificate that nobody else has signed. */
function certificateVariable({ tlsCert }: ClientFacts): string {
  if (tlsCert === undefined) return '';
  try {
    const { issuer, subject } = new X509Certificate(readFileSync(tlsCert));
    return issuer === subject ? `NODE_EXTRA_CA_CERTS=${shellWord(resolve(tlsCert))} ` : '';
  } catch {
    return '';
  }
}

/** None if the system cannot tell, such as when too many files are open. */
function addressesHere(): ReturnType<typeof networkInterfaces> {
  try {
    return networkInterfaces();
  } catch {
    return {};
  }
}

/** An address that stands for all addresses of a machine is none to connect to. */
export function reachable(url: string, interfaces = addressesHere()): string {
  const [, scheme, host, port] = /^(wss?:\/\/)(0\.0\.0\.0|\[::\]):(\d+)$/.exec(url) ?? [];
  if (host === undefined) return url;
  const addresses = Object.values(interfaces).flatMap((each) => each ?? []);
  const found = addresses.find(({ internal, family }) => !internal && family === 'IPv4');
  return `${scheme}${found?.address ?? '127.0.0.1'}:${port}`;
}

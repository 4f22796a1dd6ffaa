import { hopByHop } from '../../protocol/hop-by-hop.js';

/** A header tells where a message ends or which host is meant. No list in `Connection` may take these out. */
const FRAMING = 'content-length';

const CHUNKED: readonly string[] = ['Transfer-Encoding', 'chunked'];

/** A message that passes through. */
interface Message {
  /** Names and values in Node's flat form. */
  readonly rawHeaders: readonly string[];
  readonly headers: { readonly [name: string]: string | string[] | undefined };
}

/** The headers of an answer for the client, names and order as they came. */
export function passedBack({ rawHeaders }: Message): string[] {
  return endToEnd(rawHeaders).flat();
}

/**
 * The headers of a request for the host. It must find the same host in them as we did, and the same end of the body: what
 * it took for another request would be one that nobody has judged.
 */
export function passedOn({ rawHeaders, headers }: Message, host: string): string[] {
  const own = endToEnd(rawHeaders).filter(([name]) => name.toLowerCase() !== 'host');
  const body = headers['transfer-encoding'] === undefined ? [] : CHUNKED;
  return ['Host', host, ...own.flat(), ...body];
}

function endToEnd(raw: readonly string[]): [string, string][] {
  const pairs = pairsOf(raw);
  const isHopByHop = hopByHop(
    pairs.flatMap(([name, value]) => (name.toLowerCase() === 'connection' ? [value] : [])),
  );
  return pairs.filter(([name]) => name.toLowerCase() === FRAMING || !isHopByHop(name.toLowerCase()));
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []));
}

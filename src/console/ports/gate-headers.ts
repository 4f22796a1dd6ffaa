import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { hopByHop } from '../../protocol/hop-by-hop.js';

/** Act on the whole host, beyond the origin of the port: on the cookies of the console, or on how it is reached. */
const HOST_WIDE: ReadonlySet<string> = new Set(['clear-site-data', 'strict-transport-security']);
/**
 * Cookies of a console or of an opened port, whatever their number. One without a name is sent as its value alone, which may
 * look like one of ours.
 */
const OURS = /^[=\s]*(?:__Host-)?execwire-/i;

/** The two names of an opened port. */
export interface GateNames {
  /** The origin that the browser sees. */
  readonly origin: string;
  /** `localhost:PORT`, as the program sees it: programs refuse names that they do not know. */
  readonly inside: string;
}

/** What the program gets of a request: its own name, and none of our secrets. */
export function headersInside(headers: IncomingHttpHeaders, names: GateNames): OutgoingHttpHeaders {
  const { host, origin, referer, cookie, ...rest } = headers;
  const passed: OutgoingHttpHeaders = withoutHops(rest, headers.connection);
  const cookies = cookie?.split(';').filter((each) => !OURS.test(each.trim())) ?? [];
  return {
    ...passed,
    host: names.inside,
    'x-forwarded-host': host,
    'x-forwarded-proto': names.origin.split(':')[0],
    ...(origin === undefined ? {} : { origin: replaced(origin, names.origin, `http://${names.inside}`) }),
    ...(referer === undefined ? {} : { referer: replaced(referer, names.origin, `http://${names.inside}`) }),
    ...(cookies.length === 0 ? {} : { cookie: cookies.join(';').trim() }),
  };
}

/** What the browser gets of an answer: nothing that reaches beyond the origin of the port. */
export function headersOutside(headers: IncomingHttpHeaders, names: GateNames): OutgoingHttpHeaders {
  const { location, 'set-cookie': cookies = [], ...rest } = headers;
  const passed = Object.entries(withoutHops(rest, headers.connection)).filter(
    ([name]) => !HOST_WIDE.has(name),
  );
  const kept = cookies.filter((each) => !OURS.test(each.trim()));
  return {
    ...Object.fromEntries(passed),
    ...(location === undefined
      ? {}
      : { location: replaced(location, `http://${names.inside}`, names.origin) }),
    ...(kept.length === 0 ? {} : { 'set-cookie': kept }),
  };
}

/** `upgrade` is added again where it is meant. */
function withoutHops(headers: IncomingHttpHeaders, connection: string | undefined): OutgoingHttpHeaders {
  const isHopByHop = hopByHop(connection === undefined ? [] : [connection]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isHopByHop(name)));
}

/** The same address with another origin, if it has this one. */
function replaced(address: string, from: string, to: string): string {
  const isWhole = address.length === from.length || '/?#'.includes(address[from.length] ?? '');
  return address.startsWith(from) && isWhole ? to + address.slice(from.length) : address;
}

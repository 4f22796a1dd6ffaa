import { parseSelector, type Selector } from '../selector.js';

/** Where a path of the gateway leads: to a machine, or to one that matches. */
export type GatewayPlace = { readonly machine: string } | { readonly selector: Selector };

/** Reads `/e/NAME` and `/e/?SELECTOR`. Null for everything else. */
export function placeOf(url: string): GatewayPlace | null {
  const [, machine = '', query = ''] = /^\/e\/([A-Za-z0-9_-]{0,64})(?:\?(.*))?$/.exec(url) ?? [];
  try {
    if (machine !== '') return query === '' ? { machine } : null;
    return query === '' ? null : { selector: parseSelector(query) };
  } catch {
    return null;
  }
}

import { Store } from './store.js';

/** Everything has an address, so that a link to it can be sent to a colleague. */
export type Route =
  | { readonly view: 'machines' }
  | { readonly view: 'processes'; readonly machine: string }
  | {
      readonly view: 'process';
      readonly machine: string;
      readonly session: string;
      readonly process: string;
      readonly tab: ProcessTab;
    }
  | { readonly view: 'grid'; readonly machine: string }
  | { readonly view: 'files'; readonly machine: string; readonly path: string | null }
  | { readonly view: 'ports'; readonly machine: string }
  | { readonly view: 'changes'; readonly machine: string; readonly set: string | null }
  | { readonly view: 'player' };

export type ProcessTab = 'live' | 'output' | 'replay';

export function addressOf(route: Route): string {
  const part = encodeURIComponent;
  switch (route.view) {
    case 'machines':
      return '#/';
    case 'processes':
      return `#/${part(route.machine)}/processes`;
    case 'process':
      return `#/${part(route.machine)}/processes/${part(route.session)}/${part(route.process)}/${route.tab}`;
    case 'grid':
      return `#/${part(route.machine)}/grid`;
    case 'files':
      return `#/${part(route.machine)}/files${route.path === null ? '' : `/${part(route.path)}`}`;
    case 'ports':
      return `#/${part(route.machine)}/ports`;
    case 'changes':
      return `#/${part(route.machine)}/changes${route.set === null ? '' : `/${part(route.set)}`}`;
    case 'player':
      return '#/player';
  }
}

function parse(hash: string): Route {
  const parts = hash.replace(/^#\/?/, '').split('/').map(decoded);
  const [machine = '', view, first, second, tab] = parts;
  if (machine === 'player' && view === undefined) return { view: 'player' };
  if (machine === '' || view === undefined) return { view: 'machines' };
  if (view === 'grid' || view === 'ports') return { view, machine };
  if (view === 'changes') return { view, machine, set: first ?? null };
  if (view === 'files') return { view, machine, path: first ?? null };
  if (view !== 'processes') return { view: 'machines' };
  if (first === undefined || second === undefined) return { view: 'processes', machine };
  return { view: 'process', machine, session: first, process: second, tab: tabOf(tab) };
}

function tabOf(text: string | undefined): ProcessTab {
  return text === 'output' || text === 'replay' ? text : 'live';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const route = new Store<Route>(parse(location.hash));

addEventListener('hashchange', () => route.set(parse(location.hash)));

/** Goes there at once; the event of the browser comes later. */
export function go(to: Route): void {
  location.hash = addressOf(to);
  route.set(to);
}

import { Store } from './store.js';
import { messageOf } from './errors.js';

/** A machine as the console names it. */
export interface MachineRow {
  readonly id: string;
  readonly kind: 'local' | 'url' | 'program' | 'fleet';
  readonly where: string;
}

export interface SignedIn {
  readonly role: 'full' | 'view';
  readonly version: string;
  readonly expiresAtMs: number;
  readonly machines: readonly MachineRow[];
  readonly hasFleet: boolean;
}

export interface ViewLinkRow {
  readonly id: string;
  readonly expiresAtMs: number;
}

/** `loading` until the server has answered, null if nobody is signed in. */
export const session = new Store<SignedIn | 'loading' | null>('loading');
/** Why signing in failed. */
export const signInError = new Store<string | null>(null);

const PROOF = 'execwire-proof';

export function proof(): string {
  return localStorage.getItem(PROOF) ?? '';
}

/** Asks our own server. */
export async function call<Answer>(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
  const response = await fetch(path, {
    method,
    headers: { 'x-execwire-proof': proof(), ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer: unknown = await response.json();
  if (response.ok) return answer as Answer;
  const message: unknown = Object(answer).message;
  throw new Error(typeof message === 'string' ? message : `The server answered ${response.status}.`);
}

/**
 * Uses the key in the address, if there is one, and takes it out of the history at once. Somebody who is signed in stays so,
 * even if the key has been used.
 */
export async function begin(place = '#/'): Promise<void> {
  const key = keyIn(location.hash);
  if (key !== undefined) {
    history.replaceState(null, '', place);
    dispatchEvent(new HashChangeEvent('hashchange'));
    if (await signIn({ key })) return;
  }
  if (proof() === '') return session.set(null);
  try {
    session.set(await call<SignedIn>('GET', '/api/session'));
    signInError.set(null);
  } catch {
    session.set(null);
  }
}

// A new link, opened in the tab of an old page: the browser only changes the address.
addEventListener('hashchange', ({ oldURL }) => {
  if (keyIn(location.hash) === undefined) return;
  const { hash } = new URL(oldURL);
  void begin(keyIn(hash) === undefined ? hash || undefined : undefined);
});

function keyIn(hash: string): string | undefined {
  return /^#key=([\w-]+)$/.exec(hash)?.[1];
}

/** Returns whether somebody is signed in now. */
export async function signIn(secret: { key: string } | { token: string }): Promise<boolean> {
  try {
    const { proof, ...signedIn } = await call<SignedIn & { proof: string }>('POST', '/api/sign-in', secret);
    localStorage.setItem(PROOF, proof);
    signInError.set(null);
    session.set(signedIn);
    return true;
  } catch (error) {
    signInError.set(messageOf(error));
    return false;
  }
}

export async function signOut(): Promise<void> {
  await call('POST', '/api/sign-out', {}).catch(() => undefined);
  signedOut();
}

/** The server no longer knows us. */
function signedOut(): void {
  localStorage.removeItem(PROOF);
  session.set(null);
}

/** Whether somebody is still signed in; asked when a connection cannot be restored. */
export async function checkSession(): Promise<boolean> {
  try {
    const response = await fetch('/api/session', { headers: { 'x-execwire-proof': proof() } });
    if (response.status === 401) signedOut();
    return response.ok;
  } catch {
    return false;
  }
}

export const createLink = (forMs: number): Promise<ViewLinkRow & { key: string }> =>
  call('POST', '/api/links', { forMs });
export const listLinks = (): Promise<{ links: ViewLinkRow[] }> => call('GET', '/api/links');
export const revokeLink = (id: string): Promise<{ revoked: boolean }> =>
  call('POST', '/api/links/revoke', { id });

/** Whether whoever is signed in may change anything. */
export function canChange(): boolean {
  const { value } = session;
  return value !== null && value !== 'loading' && value.role === 'full';
}

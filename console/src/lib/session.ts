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

/** Uses the key in the address, if there is one, and takes it out of the history at once. */
export async function begin(): Promise<void> {
  const key = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
  if (key !== undefined) {
    history.replaceState(null, '', '#/');
    dispatchEvent(new HashChangeEvent('hashchange'));
    return await signIn({ key });
  }
  if (proof() === '') return session.set(null);
  try {
    session.set(await call<SignedIn>('GET', '/api/session'));
  } catch {
    session.set(null);
  }
}

export async function signIn(secret: { key: string } | { token: string }): Promise<void> {
  try {
    const { proof, ...signedIn } = await call<SignedIn & { proof: string }>('POST', '/api/sign-in', secret);
    localStorage.setItem(PROOF, proof);
    signInError.set(null);
    session.set(signedIn);
  } catch (error) {
    signInError.set(messageOf(error));
    session.set(null);
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

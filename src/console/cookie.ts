/** A cookie is sent to every port of a host: the port in its name keeps two consoles apart. */
export interface CookiePlace {
  readonly port: number;
  readonly isEncrypted: boolean;
}

function nameOf({ port, isEncrypted }: CookiePlace): string {
  // The prefix makes browsers insist on Secure, on `/`, and on no domain.
  return isEncrypted ? `__Host-execwire-${port}` : `execwire-${port}`;
}

export function setCookie(place: CookiePlace, value: string, maxAgeMs: number): string {
  const secure = place.isEncrypted ? '; Secure' : '';
  const maxAge = Math.max(0, Math.floor(maxAgeMs / 1000));
  return `${nameOf(place)}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${maxAge}${secure}`;
}

/** Our cookie in a request header. */
export function readCookie(place: CookiePlace, header: string | undefined): string | undefined {
  const name = `${nameOf(place)}=`;
  const pair = header?.split(';').find((each) => each.trim().startsWith(name));
  return pair?.trim().slice(name.length);
}

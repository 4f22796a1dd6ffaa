/** Ids with a fixed meaning. */
export const LOCAL_ID = 'local';
export const NONE_ID = 'none';

/** The id of an environment that is given only as a URL. */
export const REMOTE_ID = 'remote';

/** A machine of a fleet, by name or by labels. */
export function isFleetUrl(text: string): boolean {
  return /^fleet:(?:[A-Za-z0-9_-]{1,64}|\?.*)$/s.test(text);
}

/** Splits the address of a machine at a registry, `http(s)://HOST/cloud/environment/ID`. Null for everything else. */
export function registryPlaceOf(text: string): { url: string; environmentId: string } | null {
  const [, url, environmentId] =
    /^(https?:\/\/[^?#]+?)\/cloud\/environment\/([A-Za-z0-9_.:@-]{1,128})$/.exec(text) ?? [];
  return url !== undefined && environmentId !== undefined && URL.canParse(url)
    ? { url, environmentId }
    : null;
}

/** How to say which URLs can be dialled. */
export const SERVER_URLS = 'ws://, wss://, unix:// or fleet:, or be https://HOST/cloud/environment/ID';

/** True for URLs that can be dialled. */
export function isServerUrl(text: string): boolean {
  if (isFleetUrl(text) || registryPlaceOf(text)) return true;
  if (/^unix:\/\/\/./.test(text)) return true;
  try {
    const { protocol, hostname } = new URL(text);
    return (protocol === 'ws:' || protocol === 'wss:') && hostname !== '';
  } catch {
    return false;
  }
}

/** Ids with a fixed meaning. */
export const LOCAL_ID = 'local';
export const NONE_ID = 'none';

/** The id of an environment that is given only as a URL. */
export const REMOTE_ID = 'remote';

/** True for URLs that can be dialled. */
export function isServerUrl(text: string): boolean {
  if (/^unix:\/\/\/./.test(text)) return true;
  try {
    const { protocol, hostname } = new URL(text);
    return (protocol === 'ws:' || protocol === 'wss:') && hostname !== '';
  } catch {
    return false;
  }
}

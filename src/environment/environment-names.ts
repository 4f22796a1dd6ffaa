/** Ids that mean something by themselves. */
export const LOCAL_ID = 'local';
export const NONE_ID = 'none';

/** The id of an environment that only has a URL. */
export const REMOTE_ID = 'remote';

/** True for what can be dialled. */
export function isServerUrl(text: string): boolean {
  if (/^unix:\/\/\/./.test(text)) return true;
  try {
    const { protocol, hostname } = new URL(text);
    return (protocol === 'ws:' || protocol === 'wss:') && hostname !== '';
  } catch {
    return false;
  }
}

import { parseFileUri, pathText } from '../../protocol/index.js';

/** The path a URI from the wire names. Plain paths are refused there: only URIs are agreed on. */
export function wirePath(uri: string): string {
  return pathText(parseFileUri(uri));
}

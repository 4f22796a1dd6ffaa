import { parseFileUri, pathText } from '../../protocol/index.js';

/** The path named by a URI from the wire. The protocol allows only URIs, so plain paths are refused. */
export function wirePath(uri: string): string {
  return pathText(parseFileUri(uri));
}

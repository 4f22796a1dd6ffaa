import type { FileMetadata, FileOptions, LinkDetails, LinkOptions } from '../../contract/index.js';
import {
  decodeBase64,
  fileUri,
  parseFileUri,
  pathBytes,
  pathText,
  type Sandbox,
} from '../../protocol/index.js';

/** What descriptions and listings have in common. */
export function detailsOf(wire: {
  readonly mode?: number | undefined;
  readonly modifiedAtUs?: number | undefined;
  readonly link?: { readonly targetBase64: string; readonly modifiedAtUs: number } | undefined;
}): Pick<FileMetadata, 'mode' | 'modifiedAtUs' | 'link'> {
  const { mode, modifiedAtUs, link } = wire;
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(modifiedAtUs === undefined ? {} : { modifiedAtUs }),
    ...(link === undefined ? {} : { link: linkOf(link) }),
  };
}

function linkOf(link: { readonly targetBase64: string; readonly modifiedAtUs: number }): LinkDetails {
  return { target: decodeBase64(link.targetBase64, 'protocolViolation'), modifiedAtUs: link.modifiedAtUs };
}

/** The policy an operation runs under, where it names one. */
export function policy(options: FileOptions): { sandbox?: Sandbox | null } {
  return options.sandbox === undefined ? {} : { sandbox: options.sandbox };
}

/** That, and whether links are followed. */
export function links(options: LinkOptions): { sandbox?: Sandbox | null; followSymlinks?: boolean } {
  const { followSymlinks } = options;
  return { ...policy(options), ...(followSymlinks === undefined ? {} : { followSymlinks }) };
}

/** A path of the wire as callers see it. */
export function shown(uri: string): string {
  return pathText(parseFileUri(uri));
}

export function withPath<Item extends { readonly path: string }>(item: Item): Item {
  return { ...item, path: shown(item.path) };
}

/** A directory whose own name has no text form is a URI, and so are its entries. */
export function childPath(directory: string, name: string): string {
  return directory.startsWith('/') || directory === ''
    ? `${directory}/${name}`
    : `${directory}/${fileUri(pathBytes(`/${name}`)).slice('file:///'.length)}`;
}

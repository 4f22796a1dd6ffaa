import { pathToFileURL } from 'node:url';

/** @typedef {import('../dist/protocol/index.js').Sandbox} Sandbox */
/** @typedef {import('../dist/protocol/index.js').Sandbox['permissions']} Permissions */

/**
 * Everything may be read; nothing may be written, except at these paths. No network.
 * @param {string[]} writable
 * @returns {Permissions}
 */
export function readOnlyExcept(...writable) {
  return {
    type: 'managed',
    file_system: {
      type: 'restricted',
      entries: [
        { path: { type: 'special', value: { kind: 'root' } }, access: 'read' },
        ...writable.map(
          (path) =>
            /** @type {const} */ ({
              path: { type: 'path', path: pathToFileURL(path).href },
              access: 'write',
            }),
        ),
      ],
    },
    network: 'restricted',
  };
}

/**
 * Everything may be read, nothing written.
 * @param {string} [folder] Where programs start. Default: the root.
 * @returns {Sandbox}
 */
export function readOnly(folder = '/') {
  const cwd = pathToFileURL(folder).href;
  return { permissions: readOnlyExcept(), cwd, workspaceRoots: [cwd] };
}

/**
 * Everything may be read, and only this workspace written. Names such as `.git` are protected in it.
 * @param {string} workspace
 * @returns {Sandbox}
 */
export function writableWorkspace(workspace) {
  const uri = pathToFileURL(workspace).href;
  return {
    permissions: {
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [
          { path: { type: 'special', value: { kind: 'root' } }, access: 'read' },
          { path: { type: 'special', value: { kind: 'project_roots' } }, access: 'write' },
        ],
      },
      network: 'restricted',
    },
    cwd: uri,
    workspaceRoots: [uri],
  };
}

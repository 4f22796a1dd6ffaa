import { randomUUID } from 'node:crypto';
import { base64, type CaseContext, type ConformanceCase } from '../case.js';
import { same } from '../verdict.js';
import type { Wire } from '../wire.js';

const WALK = { maxDepth: 64, maxDirectories: 100, maxEntries: 100, followDirectorySymlinks: false };

/** Creates a directory for one case. */
async function openDirectory(context: CaseContext): Promise<{ wire: Wire; at: (name: string) => string }> {
  const wire = await context.ready();
  const directory = `${context.directory}/${randomUUID()}`;
  await wire.call('fs/createDirectory', { path: directory, recursive: false });
  return { wire, at: (name) => `${directory}/${name}` };
}

function write(wire: Wire, path: string, text: string): Promise<Record<string, unknown>> {
  return wire.call('fs/writeFile', { path, dataBase64: base64(text) });
}

async function content(wire: Wire, path: string): Promise<string> {
  const { dataBase64 } = await wire.call('fs/readFile', { path });
  return Buffer.from(String(dataBase64), 'base64').toString();
}

/** Files, all in directories created for the case. */
export const fileCases: readonly ConformanceCase[] = [
  {
    name: 'files/content',
    says: 'A read returns what was written; shorter content replaces longer content.',
    async run(context) {
      const { wire, at } = await openDirectory(context);
      same('written', await write(wire, at('file'), 'longer content'), {});
      same('content', await content(wire, at('file')), 'longer content');
      await write(wire, at('file'), 'short');
      same('replaced', await content(wire, at('file')), 'short');
    },
  },
  {
    name: 'files/errors',
    says: 'A missing file is -32004, reading the wrong kind of file -32600, an invalid URI -32602.',
    async run(context) {
      const { wire, at } = await openDirectory(context);
      const reading = (path: string) => wire.refusal('fs/readFile', { path });
      same('missing', await reading(at('none')), -32004);
      same('directory', await reading(context.directory), -32600);
      same('plain path', await reading('/none'), -32602);
      same('other scheme', await reading('http://localhost/none'), -32602);
      same('other host', await reading('file://elsewhere/none'), -32600);
      await write(wire, at('file'), '');
      same('file on the way', await reading(at('file/none')), -32603);
      const broken = { path: at('file'), dataBase64: '*' };
      same('bad base64', await wire.refusal('fs/writeFile', broken), -32600);
    },
  },
  {
    name: 'files/metadata',
    says: 'Metadata includes kind and size; a canonical path is a URI.',
    async run(context) {
      const { wire, at } = await openDirectory(context);
      await write(wire, at('a%20file'), 'four');
      const { isDirectory, isFile, isSymlink, size } = await wire.call('fs/getMetadata', {
        path: at('a%20file'),
      });
      const expected = { isDirectory: false, isFile: true, isSymlink: false, size: 4 };
      same('metadata', { isDirectory, isFile, isSymlink, size }, expected);
      const { path } = await wire.call('fs/canonicalize', { path: at('x/../a file') });
      same('name', String(path).split('/').at(-1), 'a%20file');
    },
  },
  {
    name: 'files/directories',
    says: 'Directories are created with their parents by default; listings and walks show what exists.',
    async run(context) {
      const { wire, at } = await openDirectory(context);
      await wire.call('fs/createDirectory', { path: at('tree/b') });
      await wire.call('fs/createDirectory', { path: at('tree/b') });
      const again = { path: at('tree'), recursive: false };
      same('exists', await wire.refusal('fs/createDirectory', again), -32603);
      await write(wire, at('tree/b/x'), '');
      await write(wire, at('tree/a'), '');
      const { entries } = await wire.call('fs/readDirectory', { path: at('tree') });
      const listed = (entries as { fileName: string; isFile: boolean }[]).map(
        ({ fileName, isFile }) => `${fileName} ${isFile ? 'file' : 'directory'}`,
      );
      same('listing', new Set(listed), new Set(['a file', 'b directory']));
      const walk = await wire.call('fs/walk', { path: at('tree'), options: WALK });
      const walked = (walk['entries'] as { path: string; kind: string }[]).map(({ path, kind }) => [
        path.split('/tree/')[1],
        kind,
      ]);
      same('walk', walked, [
        ['a', 'file'],
        ['b', 'directory'],
        ['b/x', 'file'],
      ]);
    },
  },
  {
    name: 'files/copy-and-remove',
    says: 'Copies merge and overwrite; by default, remove deletes whole trees and ignores missing files.',
    async run(context) {
      const { wire, at } = await openDirectory(context);
      await wire.call('fs/createDirectory', { path: at('from/sub') });
      await write(wire, at('from/sub/file'), 'content');
      const copy = { sourcePath: at('from'), destinationPath: at('to') };
      same('needs recursive', await wire.refusal('fs/copy', { ...copy, recursive: false }), -32600);
      same('copied', await wire.call('fs/copy', { ...copy, recursive: true }), {});
      same('content', await content(wire, at('to/sub/file')), 'content');
      const careful = { path: at('to'), recursive: false };
      same('not empty', await wire.refusal('fs/remove', careful), -32603);
      same('removed', await wire.call('fs/remove', { path: at('to') }), {});
      same('again', await wire.call('fs/remove', { path: at('to') }), {});
      same('not forgiven', await wire.refusal('fs/remove', { path: at('to'), force: false }), -32004);
      same('source', await content(wire, at('from/sub/file')), 'content');
    },
  },
  {
    name: 'files/handles',
    says: 'Handles read and write blocks at any offset; eof comes with fewer bytes than requested.',
    async run(context) {
      const { wire, at } = await openDirectory(context);
      await wire.call('fs/open', { handleId: 'w', path: at('file'), mode: 'replace' });
      await wire.call('fs/writeBlock', { handleId: 'w', offset: 3, chunk: base64('def') });
      await wire.call('fs/writeBlock', { handleId: 'w', offset: 0, chunk: base64('abc') });
      same('close', await wire.call('fs/close', { handleId: 'w' }), {});
      same('open', await wire.call('fs/open', { handleId: 'r', path: at('file') }), { handleId: 'r' });
      const block = (offset: number, len: number) =>
        wire.call('fs/readBlock', { handleId: 'r', offset, len });
      same('to the end', await block(2, 4), { chunk: base64('cdef'), eof: false });
      same('past the end', await block(4, 9), { chunk: base64('ef'), eof: true });
      same('no length', await wire.refusal('fs/readBlock', { handleId: 'r', offset: 0, len: 0 }), -32600);
      same('in use', await wire.refusal('fs/open', { handleId: 'r', path: at('file') }), -32600);
      same('closed', await wire.refusal('fs/readBlock', { handleId: 'w', offset: 0, len: 1 }), -32004);
      same('close an unknown handle', await wire.call('fs/close', { handleId: 'none' }), {});
    },
  },
  {
    name: 'files/watch-missing',
    says: 'A wait for a missing path ends once it appears.',
    async run(context) {
      const { wire, at } = await openDirectory(context);
      const watch = { watchId: 1, missing: [at('later')] };
      same('watching', await wire.call('fs/watchMissing', watch), { watching: true });
      await write(wire, at('later'), '');
      await wire.until('the notice', () =>
        wire.notifications.find(({ method }) => method === 'fs/missingChanged'),
      );
      same('exists', await wire.call('fs/watchMissing', { ...watch, watchId: 2 }), { watching: false });
    },
  },
];

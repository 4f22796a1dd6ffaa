import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, type OpenFileSystem, prepare } from './file-bench.js';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** How files get where they belong: whole, closed to others from the start, and never over something unseen. */
export function filePlacementContract(name: string, open: OpenFileSystem): void {
  describe(`${name}: placement`, () => {
    test('files and directories get exactly the permissions asked for, old ones too', async () => {
      await using bench = await prepare(open);
      const { files } = bench;
      const at = (file?: string): string => bench.at(file);
      writeFileSync(at('old'), 'old', { mode: 0o644 });
      mkdirSync(at('made'), { mode: 0o755 });
      for (const permissions of [0o600, 0o777, 0o444]) {
        const suffix = permissions.toString(8);
        await files.writeFile(at(`plain${suffix}`), 'x', { permissions });
        await files.writeFile(at(`atomic${suffix}`), 'x', { permissions, atomic: true });
        await files.writeFile(at(`exclusive${suffix}`), 'x', { permissions, exclusive: true });
        await (await files.open(at(`open${suffix}`), { mode: 'replace', permissions })).close();
        for (const kind of ['plain', 'atomic', 'exclusive', 'open'])
          expect(modeOf(at(`${kind}${suffix}`))).toBe(permissions);
        await files.writeFile(at('old'), 'new', { permissions, atomic: true });
        expect(modeOf(at('old'))).toBe(permissions);
      }
      await files.createDirectory(at('a/b'), { permissions: 0o700 });
      await files.createDirectory(at('made'), { permissions: 0o711 });
      await files.createDirectory(at('bare'), { permissions: 0o777, recursive: false });
      expect([modeOf(at('a/b')), modeOf(at('made')), modeOf(at('bare'))]).toEqual([0o700, 0o711, 0o777]);
      expect((await files.getMetadata(at('made'), { details: true })).mode).toBe(0o711);
      expect(await files.getMetadata(at('made'))).not.toHaveProperty('mode');
      await files.writeFile('/dev/null', 'x', { permissions: 0o666 });
    });

    test('an exclusive write takes no place that is taken, not even by a link that leads nowhere', async () => {
      await using bench = await prepare(open);
      const { files } = bench;
      const at = (file?: string): string => bench.at(file);
      writeFileSync(at('file'), 'old');
      mkdirSync(at('directory'));
      symlinkSync('nowhere', at('link'));
      for (const taken of ['file', 'directory', 'link'])
        expect(await codeOf(files.writeFile(at(taken), 'new', { exclusive: true }))).toBe('ioFailed');
      expect(readFileSync(at('file'), 'utf8')).toBe('old');
      expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
      await files.writeFile(at('free'), 'new', { exclusive: true });
      expect(readFileSync(at('free'), 'utf8')).toBe('new');
      expect(readdirSync(at()).sort()).toEqual(['directory', 'file', 'free', 'link']);
    });

    test('hundreds of writes at a time all succeed', async () => {
      await using bench = await prepare(open);
      const names = Array.from({ length: 600 }, (_, index) => `file ${index}`);
      const write = (file: string): Promise<void> =>
        bench.files.writeFile(bench.at(file), file, { exclusive: true });
      await Promise.all(names.map(write));
      expect(readdirSync(bench.at()).sort()).toEqual(names.sort());
      expect(readFileSync(bench.at('file 599'), 'utf8')).toBe('file 599');
    });

    test('a file is written on and takes its place when it closes', async () => {
      await using bench = await prepare(open);
      const { files } = bench;
      const at = (file?: string): string => bench.at(file);
      expect(await codeOf(files.open(at('draft'), { mode: 'continue' }))).toBe('notFound');
      const begun = await files.open(at('draft'), { mode: 'replace', ahead: true });
      await begun.write(0, Buffer.from('whole'));
      await begun.close();
      const draft = await files.open(at('draft'), { mode: 'continue' });
      writeFileSync(at('place'), 'old');
      // All in one flight: what is asked for first is done first.
      await Promise.all([draft.write(0, Buffer.from('W')), draft.closeAs(at('place'))]);
      expect(readFileSync(at('place'), 'utf8')).toBe('Whole');
      expect(readdirSync(at())).toEqual(['place']);
    });

    test('what cannot be opened or renamed is said, and a directory is not replaced', async () => {
      await using bench = await prepare(open);
      const { files } = bench;
      const at = (file?: string): string => bench.at(file);
      mkdirSync(at('directory'));
      // A machine nearby says so at once, one that is far away when the file is used.
      const missing = files.open(at('no/draft'), { mode: 'replace', ahead: true });
      expect(await codeOf(missing.then((handle) => handle.write(0, Buffer.from('x'))))).toBe('notFound');
      expect(await codeOf(missing.then((handle) => handle.closeAs(at('place'))))).toBe('notFound');
      const draft = await files.open(at('draft'), { mode: 'replace' });
      expect(await codeOf(draft.closeAs(at('directory')))).toBe('ioFailed');
      expect(statSync(at('directory')).isDirectory()).toBe(true);
    });
  });
}

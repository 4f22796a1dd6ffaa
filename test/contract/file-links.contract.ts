import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, type OpenFileSystem, prepare } from './file-bench.js';

/** The kernel's own time of a path, in whole microseconds. */
const timeOf = (path: string): number => Number(lstatSync(path, { bigint: true }).mtimeNs / 1000n);

/**
 * Times that are easily lost to rounding, up to the last one before 2038. After that, the numbers in which Node takes and tells
 * times have less and less room for microseconds.
 */
const TIMES = [0, 1_000_000_000_000_000, 1_700_000_000_123_456, 1_700_000_000_999_999, 2_147_483_647_999_999];

/** Links and modification times: told and set as they are. */
export function fileLinksContract(name: string, open: OpenFileSystem): void {
  describe(`${name}: links and times`, () => {
    test('what is made is as old as asked for, to the microsecond', async () => {
      await using bench = await prepare(open);
      const { files } = bench;
      const at = (file?: string): string => bench.at(file);
      for (const modifiedAtUs of TIMES) {
        await files.writeFile(at('plain'), 'x', { modifiedAtUs });
        await files.writeFile(at('atomic'), 'x', { modifiedAtUs, atomic: true });
        await files.writeFile(at(`exclusive${modifiedAtUs}`), 'x', { modifiedAtUs, exclusive: true });
        const handle = await files.open(at('draft'), { mode: 'replace' });
        await Promise.all([
          handle.write(0, Buffer.from('x')),
          handle.closeAs(at('closed'), { modifiedAtUs }),
        ]);
        await files.createDirectory(at('made/below'), { modifiedAtUs });
        await files.createSymlink(at('link'), 'nowhere', { modifiedAtUs, replace: true });
        for (const made of ['plain', 'atomic', `exclusive${modifiedAtUs}`, 'closed', 'made/below', 'link'])
          expect([made, timeOf(at(made))]).toEqual([made, modifiedAtUs]);
        expect((await files.getMetadata(at('plain'), { details: true })).modifiedAtUs).toBe(modifiedAtUs);
      }
      expect(await files.getMetadata(at('plain'))).not.toHaveProperty('modifiedAtUs');
      await files.writeFile('/dev/null', 'x', { modifiedAtUs: 0 });
    });

    test('a listing tells what links say, and how old everything is', async () => {
      await using bench = await prepare(open);
      const { files } = bench;
      const at = (file?: string): string => bench.at(file);
      await files.writeFile(at('file'), 'content', { modifiedAtUs: 5_000_001 });
      const odd = Buffer.from([0x2e, 0x2f, 0xff, 0x0a]);
      await files.createSymlink(at('link'), 'file', { modifiedAtUs: 7_000_001 });
      await files.createSymlink(at('odd'), odd);
      expect(readlinkSync(at('odd'), { encoding: 'buffer' })).toEqual(odd);
      const entries = await files.readDirectory(at(), { details: true });
      const find = (wanted: string): unknown => entries.find((entry) => entry.name === wanted);
      expect(find('file')).toMatchObject({ modifiedAtUs: 5_000_001, isSymlink: false });
      expect(find('file')).not.toHaveProperty('link');
      const link = { target: new Uint8Array(Buffer.from('file')), modifiedAtUs: 7_000_001 };
      expect(plain(find('link'))).toMatchObject({
        isSymlink: true,
        isFile: true,
        modifiedAtUs: 5_000_001,
        link,
      });
      expect(plain(find('odd'))).toMatchObject({ isFile: false, link: { target: new Uint8Array(odd) } });
      expect(plain(await files.getMetadata(at('link'), { details: true }))).toMatchObject({ link });
      expect((await files.readDirectory(at()))[0]).not.toHaveProperty('modifiedAtUs');
    });

    test('a new link takes no place that is taken, unless it may replace a file or a link', async () => {
      await using bench = await prepare(open);
      const { files } = bench;
      const at = (file?: string): string => bench.at(file);
      writeFileSync(at('file'), 'old');
      mkdirSync(at('directory'));
      mkdirSync(at('outside'));
      symlinkSync('outside', at('link'));
      for (const taken of ['file', 'directory', 'link'])
        expect(await codeOf(files.createSymlink(at(taken), 'new'))).toBe('ioFailed');
      expect(await codeOf(files.createSymlink(at('directory'), 'new', { replace: true }))).toBe('ioFailed');
      for (const taken of ['file', 'link']) {
        await files.createSymlink(at(taken), 'new', { replace: true });
        expect(readlinkSync(at(taken))).toBe('new');
      }
      expect(await codeOf(files.createSymlink(at('no/link'), 'new'))).toBe('notFound');
      expect(await codeOf(files.createSymlink(at('empty'), ''))).toBe('notFound');
      // Nothing but what was asked for is left.
      expect(readdirSync(at()).sort()).toEqual(['directory', 'file', 'link', 'outside']);
      expect(readdirSync(at('outside'))).toEqual([]);
    });

    test('no link is followed on the way where that is not wanted', async () => {
      await using bench = await prepare(open);
      const { files } = bench;
      const at = (file?: string): string => bench.at(file);
      mkdirSync(at('real'));
      symlinkSync('real', at('way'));
      await files.createSymlink(at('way/followed'), 'x');
      const refused = files.createSymlink(at('way/refused'), 'x', { followSymlinks: false });
      expect(await codeOf(refused)).not.toBe('no error');
      expect(readdirSync(at('real'))).toEqual(['followed']);
    });

    test('a copy within the machine is as old as the original, if that is wanted', async () => {
      await using bench = await prepare(open);
      const { files } = bench;
      const at = (file?: string): string => bench.at(file);
      mkdirSync(at('tree/below'), { recursive: true });
      await files.writeFile(at('tree/below/file'), 'content', { modifiedAtUs: 5_000_001 });
      await files.createSymlink(at('tree/below/link'), 'file', { modifiedAtUs: 6_000_001 });
      await files.createDirectory(at('tree/below'), { modifiedAtUs: 7_000_001 });
      await files.createDirectory(at('tree'), { modifiedAtUs: 8_000_001 });
      await files.copy(at('tree'), at('kept'), { recursive: true, keepTimes: true });
      const times = ['kept', 'kept/below', 'kept/below/file', 'kept/below/link'].map((each) =>
        timeOf(at(each)),
      );
      expect(times).toEqual([8_000_001, 7_000_001, 5_000_001, 6_000_001]);
      await files.copy(at('tree/below/file'), at('new'), {});
      expect(timeOf(at('new'))).toBeGreaterThan(8_000_001);
      expect(readFileSync(at('new'), 'utf8')).toBe('content');
    });
  });
}

/** Bytes of any kind as plain ones, to compare. */
function plain(value: unknown): unknown {
  const { link, ...rest } = value as { link: { target: Uint8Array } };
  return { ...rest, link: { ...link, target: new Uint8Array(link.target) } };
}

import { describe, expect, test } from 'vitest';
import { base64, exec } from '../../testkit/app-client.mjs';
import type { OpenApp } from '../../testkit/app-server.mjs';
import { TestFolder } from '../harness/processes.js';

/** `command/exec`: caps, text, streaming and the end of output. */
export function commandOutputContract(name: string, open: OpenApp): void {
  describe(`${name}: output of command/exec`, () => {
    test('a cap counts bytes per stream, drops the rest and lets the program finish', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      expect(await exec(client, 'printf abcde; printf 12345 >&2', { outputBytesCap: 3 })).toEqual({
        exitCode: 0,
        stdout: 'abc',
        stderr: '123',
      });
      expect(await exec(client, 'head -c 30000000 /dev/zero; echo done >&2', { outputBytesCap: 0 })).toEqual({
        exitCode: 0,
        stdout: '',
        stderr: '',
      });
      const { stdout } = await exec(client, 'head -c 1500000 /dev/zero | tr "\\0" x');
      expect(stdout.length).toBe(1_048_576);
      const all = await exec(client, 'head -c 1500000 /dev/zero | tr "\\0" x', { disableOutputCap: true });
      expect(all.stdout.length).toBe(1_500_000);
    });

    test('text survives a cap in the middle of a character, and other alphabets', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const say = (octal: string) => `printf '${octal}'`;
      const cut = { outputBytesCap: 3 };
      expect(await exec(client, say('\\303\\251\\303\\251'), cut)).toMatchObject({ stdout: 'é\uFFFD' });
      expect(await exec(client, say('a\\377\\376b'))).toMatchObject({ stdout: 'aÿþb' });
    });

    test('streamed output is exact, tells the cap once, and comes before the answer', async () => {
      await using app = await open();
      const client = await app.client.initialize();
      const stream = { streamStdoutStderr: true, processId: 's' };
      expect(await exec(client, "printf 'a\\377'; printf e >&2", stream)).toEqual({
        exitCode: 0,
        stdout: '',
        stderr: '',
      });
      expect(client.streamed('s').equals(Buffer.from([0x61, 0xff]))).toBe(true);
      expect(client.streamed('s', 'stderr').toString()).toBe('e');
      expect('id' in (client.wire.arrivals.at(-1) ?? {})).toBe(true);
      const capped = async (id: string, script: string, outputBytesCap: number): Promise<unknown[]> => {
        await exec(client, script, { streamStdoutStderr: true, processId: id, outputBytesCap });
        return client
          .notifications('command/exec/outputDelta')
          .filter(({ params }) => params.processId === id)
          .map(({ params }) => params);
      };
      const delta = (processId: string, text: string, capReached: boolean): object => ({
        processId,
        stream: 'stdout',
        deltaBase64: base64(text),
        capReached,
      });
      expect(await capped('over', 'printf abcde', 3)).toEqual([delta('over', 'abc', true)]);
      expect(await capped('exact', 'printf abc', 3)).toEqual([delta('exact', 'abc', true)]);
      expect(await capped('under', 'printf ab', 3)).toEqual([delta('under', 'ab', false)]);
      expect(await capped('zero', 'printf ab', 0)).toEqual([delta('zero', '', true)]);
      expect(await capped('silent', 'exit 0', 0)).toEqual([]);
    });

    test('a background job that holds the output delays the answer for two seconds and lives on', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      const started = Date.now();
      const script = `(sleep 2.6; echo alive > ${folder.file('probe')}) & echo $!; exit 4`;
      const { exitCode, stdout } = await exec(client, script);
      expect([exitCode, /^\d+\n$/.test(stdout)]).toEqual([4, true]);
      expect(Date.now() - started).toBeGreaterThan(1900);
      expect(await folder.appears('probe')).toBe('alive\n');
    });
  });
}

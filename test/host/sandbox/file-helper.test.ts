import { execFileSync } from 'node:child_process';
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ConfinedPolicy, FileHelpers } from '../../../src/host/sandbox/index.js';
import { type HelperOptions } from '../../../src/host/sandbox/launch/file-helper.js';
import { type PoolLimits } from '../../../src/host/sandbox/launch/file-helpers.js';
import { policyFromPermissions, type SandboxPolicy } from '../../../src/policy/internal.js';
import { entry, type Identity, identities, Place, supportFor, workspacePolicy } from './harness.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const builtHelper = join(root, 'dist/programs/file-helper.js');
const module = new URL('plain-files.mjs', import.meta.url).href;

/** Closes with the test. */
class Pool extends FileHelpers implements AsyncDisposable {
  static async open(
    identity: Identity,
    { script = builtHelper, startLimitMs, ...limits }: PoolLimits & Partial<HelperOptions> = {},
  ): Promise<Pool> {
    const { uid } = identity;
    const support = await supportFor(identity);
    const options = {
      ...(uid === undefined ? {} : { ids: { uid, gid: uid } }),
      ...(startLimitMs === undefined ? {} : { startLimitMs }),
    };
    return new Pool({ target: { module, exportName: 'files' }, support, script, ...options }, limits);
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function confined(policy: SandboxPolicy): ConfinedPolicy {
  if (policy.kind === 'open') throw new Error('nothing to enforce');
  return policy;
}

/** The code of the error, or what came back. */
const outcome = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => value ?? 'done',
    (error: { code: string }) => error.code,
  );

// The helper runs from the built package, as it does for users.
beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'ignore' });
});

describe.each(identities)('file operations under a policy as $name', (identity) => {
  test('obey it, links included', async () => {
    using place = new Place(identity);
    await using pool = await Pool.open(identity);
    const { workspace, outside } = place;
    writeFileSync(join(outside, 'kept'), 'kept');
    symlinkSync(outside, join(workspace, 'way-out'));
    const policy = confined(
      workspacePolicy(workspace, { entries: [entry(join(outside, 'hidden'), 'none')] }),
    );
    mkdirSync(join(outside, 'hidden'));
    const call = (method: string, ...args: unknown[]) => outcome(pool.call(policy, method, args));
    const bytes = new Uint8Array([0, 255, 128]);
    expect(await call('writeFile', join(workspace, 'new'), bytes)).toBe('done');
    expect(await call('readFile', join(workspace, 'new'))).toEqual(bytes);
    expect(await call('readFile', join(outside, 'kept'))).toEqual(new TextEncoder().encode('kept'));
    expect(await call('writeFile', join(outside, 'new'), bytes)).toBe('EROFS');
    expect(await call('writeFile', join(workspace, 'way-out', 'new'), bytes)).toBe('EROFS');
    expect(await call('remove', join(workspace, 'way-out', 'kept'))).toBe('EROFS');
    expect(await call('makeDirectory', join(workspace, '.git'))).toBe('EEXIST');
    expect(await call('writeFile', join(workspace, '.git', 'config'), bytes)).toBe('EROFS');
    expect(await call('list', join(outside, 'hidden'))).toBe('EACCES');
    await pool.close();
    expect(readdirSync(workspace).sort()).toEqual(['new', 'way-out']);
    expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('kept');
  });

  test('a link that flips under its feet never leads outside', async () => {
    using place = new Place(identity);
    await using pool = await Pool.open(identity);
    const { workspace, outside, base } = place;
    const policy = confined(workspacePolicy(workspace));
    mkdirSync(join(workspace, 'real'));
    if (identity.uid !== undefined) chownSync(join(workspace, 'real'), identity.uid, identity.uid);
    const link = join(workspace, 'link');
    const point = (target: string) => {
      symlinkSync(target, join(base, 'next'));
      renameSync(join(base, 'next'), link);
    };
    point('real');
    for (let round = 0; round < 100; round += 1) {
      const writing = outcome(pool.call(policy, 'writeFile', [join(link, `${round}`), new Uint8Array(1)]));
      point(round % 2 ? 'real' : outside);
      expect(['done', 'EROFS']).toContain(await writing);
    }
    expect(readdirSync(outside)).toEqual([]);
  });

  test('one helper serves a policy until a place it shows is another', async () => {
    using place = new Place(identity);
    await using pool = await Pool.open(identity);
    const makeGit = () => {
      mkdirSync(join(place.workspace, '.git'));
      if (identity.uid !== undefined) chownSync(join(place.workspace, '.git'), identity.uid, identity.uid);
    };
    makeGit();
    const policy = confined(workspacePolicy(place.workspace));
    const first = pool.lease(policy);
    const again = pool.lease(policy);
    expect(await again.call('echo', [1])).toEqual([1]);
    rmSync(join(place.workspace, '.git'), { recursive: true });
    makeGit();
    expect(
      await outcome(pool.call(policy, 'writeFile', [join(place.workspace, '.git', 'x'), new Uint8Array(1)])),
    ).toBe('EROFS');
    first.release();
    again.release();
  });

  test('work where the policy shows nothing but the workspace', async () => {
    using place = new Place(identity);
    await using pool = await Pool.open(identity);
    writeFileSync(join(place.outside, 'kept'), 'kept');
    const policy = confined(
      policyFromPermissions(
        {
          type: 'managed',
          file_system: { type: 'restricted', entries: [entry(place.workspace, 'write')] },
          network: 'restricted',
        },
        { cwd: '/', workspaceRoots: [], temporaryDirectories: [] },
      ),
    );
    const call = (method: string, ...args: unknown[]) => outcome(pool.call(policy, method, args));
    expect(await call('writeFile', join(place.workspace, 'new'), new Uint8Array(1))).toBe('done');
    expect(await call('readFile', join(place.outside, 'kept'))).toBe('ENOENT');
    expect(await call('list', '/var/log')).toBe('ENOENT');
    expect(await call('writeFile', '/new', new Uint8Array(1))).toBe('EROFS');
  });

  test('values and errors come back as they were', async () => {
    using place = new Place(identity);
    await using pool = await Pool.open(identity);
    const policy = confined(workspacePolicy(place.workspace));
    const values = [null, 'é', { a: [1, new Uint8Array()] }, new Uint8Array([0, 255])];
    expect(await pool.call(policy, 'echo', values)).toEqual(values);
    const large = Buffer.alloc(3_000_000, 'frame');
    const [back] = (await pool.call(policy, 'echo', [large])) as [Uint8Array];
    expect(large.equals(back)).toBe(true);
    await expect(pool.call(policy, 'refuse', [])).rejects.toMatchObject({
      name: 'ExecError',
      code: 'invalidPath',
      data: { path: '/x' },
    });
    await expect(pool.call(policy, 'constructor', [])).rejects.toThrow('no method');
    await expect(pool.call(policy, 'other', [])).rejects.toThrow('no method');
  });

  test('reach no network, whatever the policy gives to programs', async () => {
    using place = new Place(identity);
    await using pool = await Pool.open(identity);
    const policy = confined(workspacePolicy(place.workspace, { network: 'enabled' }));
    const network = await pool.call(policy, 'network', []);
    expect(network).toMatch(/^net:/);
    expect(network).not.toBe(readlinkSync('/proc/self/ns/net'));
  });

  test('their number is bounded, and the end of one fails its calls', async () => {
    using place = new Place(identity);
    await using pool = await Pool.open(identity, { maxHelpers: 1 });
    const one = confined(workspacePolicy(place.workspace));
    const other = confined(workspacePolicy(place.outside));
    const lease = pool.lease(one);
    const hanging = lease.call('hang', []);
    expect(() => pool.lease(other)).toThrow(expect.objectContaining({ code: 'overloaded' }));
    const closing = pool.close();
    await expect(hanging).rejects.toMatchObject({ code: 'ioFailed' });
    await closing;
    lease.release();
    expect(await pool.call(other, 'echo', ['again'])).toEqual(['again']);
  });

  test('an idle one goes, and what it kept free is free again', async () => {
    using place = new Place(identity);
    await using pool = await Pool.open(identity, { idleMs: 1 });
    const policy = confined(workspacePolicy(place.workspace));
    const lease = pool.lease(policy);
    await lease.call('echo', []);
    expect(readdirSync(place.workspace).sort()).toEqual(['.agents', '.codex', '.git']);
    lease.release();
    await expect.poll(() => readdirSync(place.workspace)).toEqual([]);
  });

  test('one that never gets ready is ended and replaced, and nobody waits for it for ever', async () => {
    using place = new Place(identity);
    const shortage = join(place.outside, 'shortage');
    const script = join(place.outside, 'helper.mjs');
    // As Node without room for its threads: alive, silent, and deaf to the end of its input.
    writeFileSync(
      script,
      `import { existsSync } from 'node:fs';
      if (existsSync(${JSON.stringify(shortage)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      await import(${JSON.stringify(pathToFileURL(builtHelper).href)});`,
    );
    writeFileSync(shortage, '');
    const policy = confined(workspacePolicy(place.workspace));
    await using pool = await Pool.open(identity, { script, startLimitMs: 2_000 });
    const calls = [pool.call(policy, 'echo', [1]), pool.call(policy, 'echo', [2])];
    for (const { reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[])
      expect(reason).toMatchObject({ code: 'sandboxUnavailable', data: { reason: 'resourceLimit' } });
    await expect.poll(() => readdirSync(place.workspace)).toEqual([]);
    rmSync(shortage);
    // More than once, should the machine be too busy to start it in time.
    await expect.poll(() => outcome(pool.call(policy, 'echo', ['again']))).toEqual(['again']);
  });

  test('one that is ready may take its time', async () => {
    using place = new Place(identity);
    const startLimitMs = 4_000;
    await using pool = await Pool.open(identity, { startLimitMs });
    const policy = confined(workspacePolicy(place.workspace));
    const begun = performance.now();
    expect(await pool.call(policy, 'echoAfter', [startLimitMs + 500, 'slow'])).toBe('slow');
    expect(performance.now() - begun).toBeGreaterThan(startLimitMs);
  });
});

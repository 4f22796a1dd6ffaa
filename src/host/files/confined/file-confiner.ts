import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FileHandle } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import type { Sandbox } from '../../../protocol/index.js';
import { packageFile } from '../../kernel/package-file.js';
import { type ConfinedPolicy, FileHelpers, policyOfRequest, sandboxSupport } from '../../sandbox/index.js';
import { ConfinedFileHandle } from './confined-file-handle.js';

/** Holds file operations to a policy by doing them in a process that is confined to it. */
export class FileConfiner {
  #helpers: Promise<FileHelpers> | undefined;

  /** Calls a method of a file system inside. Its errors come out as they are. */
  async call(policy: ConfinedPolicy, method: string, args: readonly unknown[]): Promise<unknown> {
    return await (await this.#pool()).call(policy, method, args);
  }

  async open(policy: ConfinedPolicy, path: string, mode: 'read' | 'replace'): Promise<FileHandle> {
    const lease = (await this.#pool()).lease(policy);
    try {
      return new ConfinedFileHandle(lease, Number(await lease.call('openHandle', [path, mode])));
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  async close(): Promise<void> {
    const helpers = this.#helpers;
    this.#helpers = undefined;
    await (await helpers?.catch(() => undefined))?.close();
  }

  #pool(): Promise<FileHelpers> {
    this.#helpers ??= openPool();
    return this.#helpers;
  }
}

/** The policy a request names; null when it leaves everything open. */
export function policyOf(sandbox: Sandbox | null | undefined): ConfinedPolicy | null {
  if (!sandbox) return null;
  const policy = policyOfRequest(sandbox, { cwd: '/', temporary: process.env.TMPDIR });
  return policy.kind === 'confined' ? policy : null;
}

async function openPool(): Promise<FileHelpers> {
  const support = await sandboxSupport();
  if (!support.available) {
    throw new ExecError('sandboxUnavailable', support.message, {
      data: { reason: support.reason, hint: support.hint },
    });
  }
  const target = {
    module: packageFile('dist/host/files/confined/confined-target.js').href,
    exportName: 'confinedTarget',
  };
  const modulePaths = [fileURLToPath(packageFile('dist/')), librariesOf()];
  return new FileHelpers({ support, target, modulePaths });
}

/** Where the one library lies that the code inside loads. */
function librariesOf(): string {
  return dirname(createRequire(import.meta.url).resolve('zod/package.json'));
}

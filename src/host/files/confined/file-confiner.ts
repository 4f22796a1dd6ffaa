import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FileHandle, OpenFileOptions } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import type { Sandbox } from '../../../protocol/index.js';
import { packageFile } from '../../kernel/package-file.js';
import {
  type ConfinedPolicy,
  FileHelpers,
  findHidden,
  type HeldView,
  type HelperLease,
  hostView,
  policyOfRequest,
  type SandboxSupport,
  withSupport,
} from '../../sandbox/index.js';
import { ConfinedFileHandle } from './confined-file-handle.js';
import { asExecError } from '../access/os-error.js';

/** A policy, and the files it applies to if changes are held. */
export interface Confined {
  readonly policy: ConfinedPolicy;
  readonly held?: HeldView | undefined;
}

/** Enforces a policy on file operations by running them in a process confined by it. */
export class FileConfiner {
  #pool: { readonly support: SandboxSupport; readonly helpers: FileHelpers } | undefined;

  /** Calls a method of a file system inside. Errors come out unchanged. */
  async call({ policy, held }: Confined, method: string, args: readonly unknown[]): Promise<unknown> {
    const lease = await this.#lease(policy, held);
    try {
      return await lease.call(method, args);
    } finally {
      lease.release();
    }
  }

  async open({ policy, held }: Confined, path: string, options: OpenFileOptions): Promise<FileHandle> {
    const lease = await this.#lease(policy, held);
    try {
      return new ConfinedFileHandle(lease, Number(await lease.call('openHandle', [path, options])));
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.helpers.close();
  }

  async #lease(policy: ConfinedPolicy, held: HeldView | undefined): Promise<HelperLease> {
    try {
      const hidden = await findHidden(policy.files, held ?? hostView);
      return await withSupport((support) => this.#helpersOf(support).lease(policy, { held, hidden }));
    } catch (error) {
      // Making a sandbox may fail for lack of descriptors or memory.
      throw asExecError(error);
    }
  }

  /** The result of the probe changes if a policy makes a helper program untrusted. */
  #helpersOf(support: SandboxSupport): FileHelpers {
    if (this.#pool?.support !== support) {
      void this.#pool?.helpers.close();
      this.#pool = { support, helpers: openPool(support) };
    }
    return this.#pool.helpers;
  }
}

/** The policy a request names; null if it restricts nothing. */
export function policyOf(sandbox: Sandbox | null | undefined): ConfinedPolicy | null {
  if (!sandbox) return null;
  const policy = policyOfRequest(sandbox, { cwd: '/', temporary: process.env.TMPDIR });
  return policy.kind === 'confined' ? policy : null;
}

function openPool(support: SandboxSupport): FileHelpers {
  if (!support.available) {
    throw new ExecError('sandboxUnavailable', support.message, {
      data: { reason: support.reason, hint: support.hint },
    });
  }
  const target = {
    module: packageFile('dist/programs/confined-target.js').href,
    exportName: 'confinedTarget',
  };
  const modulePaths = [fileURLToPath(packageFile('dist/programs/')), librariesOf()];
  return new FileHelpers({ support, target, modulePaths });
}

/** Where the one library lies that the code inside loads. */
function librariesOf(): string {
  return dirname(createRequire(import.meta.url).resolve('zod/package.json'));
}

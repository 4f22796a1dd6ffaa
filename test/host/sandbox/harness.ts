// Needs: bwrap, setpriv
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SignalName } from '../../../src/contract/index.js';
import { confine, sandboxSupport, type SandboxSupport } from '../../../src/host/sandbox/index.js';
import { type Confinement, type ConfineSpec } from '../../../src/host/sandbox/bwrap/confine.js';
import { policyFromPermissions, type SandboxPolicy } from '../../../src/policy/internal.js';
import { type SandboxOutcome } from '../../../src/host/sandbox/launch/status.js';
import type { PermissionEntry } from '../../../src/protocol/index.js';

/** A user id that needs no account. */
const PLAIN_ID = 65_534;

/** Whom the sandboxed program runs as. */
export interface Identity {
  readonly name: string;
  readonly uid?: number;
}

const isRoot = process.getuid?.() === 0;

/** As root both are tested; a plain user can only be itself. */
export const identities: readonly Identity[] = isRoot
  ? [{ name: 'root' }, { name: 'plain user', uid: PLAIN_ID }]
  : [{ name: 'plain user' }];

/** What the machine offers to this identity. Throws where there is no sandbox: these tests do not skip. */
export async function supportFor({ uid }: Identity): Promise<Extract<SandboxSupport, { available: true }>> {
  const support = await sandboxSupport();
  if (!support.available) throw new Error(`no sandbox here: ${support.message} ${support.hint}`);
  return uid === undefined ? support : { ...support, root: false, userNamespace: false };
}

/** A workspace and a place outside it, both owned by the identity, so that only the sandbox stands in the way. */
export class Place implements Disposable {
  readonly base: string;
  readonly workspace: string;
  readonly outside: string;

  constructor({ uid }: Identity, parent = tmpdir()) {
    this.base = realpathSync(mkdtempSync(join(parent, 'execwire-sandbox-')));
    this.workspace = join(this.base, 'workspace');
    this.outside = join(this.base, 'outside');
    chmodSync(this.base, 0o755);
    for (const path of [this.workspace, this.outside]) mkdirSync(path);
    if (uid !== undefined)
      for (const path of [this.base, this.workspace, this.outside]) chownSync(path, uid, uid);
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

export const entry = (path: string, access: 'read' | 'write' | 'none'): PermissionEntry => ({
  path: { type: 'path', path: pathToFileURL(path).href },
  access,
});

export const rootReadable: PermissionEntry = {
  path: { type: 'special', value: { kind: 'root' } },
  access: 'read',
};

interface PolicyChanges {
  readonly entries?: PermissionEntry[];
  readonly network?: 'restricted' | 'enabled';
  readonly maxProcesses?: number | null;
}

/** Everything readable, the workspace writable, no network; changed by what a test says. */
export function workspacePolicy(
  workspace: string,
  { entries = [], network = 'restricted', maxProcesses = null }: PolicyChanges = {},
): SandboxPolicy {
  return policyFromPermissions(
    {
      type: 'managed',
      file_system: { type: 'restricted', entries: [rootReadable, entry(workspace, 'write'), ...entries] },
      network,
    },
    { cwd: workspace, workspaceRoots: [workspace], temporaryDirectories: [], maxProcesses },
  );
}

/** A confined process that runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly confinement: Confinement;
  /** Resolves with the first stdout that contains the text. */
  said(text: string): Promise<void>;
  signal(signal: SignalName): Promise<boolean>;
  readonly done: Promise<Finished>;
}

export interface Finished {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: SandboxOutcome | null;
}

/** Starts a program under a policy the way the process layer does, with Node's own spawn. */
export async function start(
  identity: Identity,
  policy: SandboxPolicy,
  spec: Partial<ConfineSpec> & Pick<ConfineSpec, 'argv' | 'cwd'>,
): Promise<Running> {
  const support = await supportFor(identity);
  const env = spec.env ?? { PATH: '/usr/local/bin:/usr/bin:/bin' };
  const confinement = confine({ terminal: false, ...spec, env }, { policy, support });
  const stdio: (number | 'pipe' | 'ignore')[] = ['ignore', 'pipe', 'pipe'];
  for (const { childFd, fd } of confinement.inheritFds) stdio[childFd] = fd;
  const [program = '', ...args] = confinement.argv;
  const child = spawn(program, args, {
    argv0: confinement.arg0,
    cwd: confinement.cwd,
    env: confinement.env,
    stdio,
    detached: true,
    ...(identity.uid !== undefined && { uid: identity.uid, gid: identity.uid }),
  });
  confinement.release();
  return watch(child, confinement);
}

/** Starts and waits for the end. */
export async function run(...args: Parameters<typeof start>): Promise<Finished> {
  return (await start(...args)).done;
}

function watch(child: ChildProcess, confinement: Confinement): Running {
  const text = { stdout: '', stderr: '' };
  const waiting: { text: string; resolve: () => void }[] = [];
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece;
      for (const wait of waiting) if (text.stdout.includes(wait.text)) wait.resolve();
    });
  const done = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', () => confinement.status?.over());
    child.on('close', (code, signal) => {
      void (confinement.status?.ended ?? Promise.resolve(null)).then((outcome) =>
        resolve({ code, signal, ...text, outcome }),
      );
    });
  });
  return {
    child,
    confinement,
    said: (wanted) =>
      text.stdout.includes(wanted)
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ text: wanted, resolve })),
    signal: (signal) => confinement.status?.signal(signal) ?? Promise.resolve(false),
    done,
  };
}

import { type AppSandboxPolicy, ExecError, type Sandbox } from '../protocol/index.js';

/** A request's policy or profile: at most one of the two is set. */
export interface SandboxChoice {
  readonly policy: AppSandboxPolicy | null;
  readonly profile: string | null;
  /** The program's directory; undefined: the environment's working directory. */
  readonly cwd: string | undefined;
  /** The environment's working directory as a `file:` URI; null if unknown. */
  readonly workspace: string | null;
}

/** Turns a choice into a sandbox; null for none. Throws rather than run unconfined. */
export type SandboxChooser = (choice: SandboxChoice) => Sandbox | null;

const CONFINING_PROFILES = [':read-only', ':workspace'];

/** For environments that cannot enforce anything: refuses every policy that confines. */
export function refuseConfinement(defaultPolicy: AppSandboxPolicy): SandboxChooser {
  return ({ policy, profile }) => {
    if (profile === ':danger-full-access') return null;
    if (profile !== null && !CONFINING_PROFILES.includes(profile)) {
      throw new ExecError('invalidRequest', 'invalid permission profile: there is none with this name');
    }
    const type = profile === null ? (policy ?? defaultPolicy).type : 'readOnly';
    if (type === 'dangerFullAccess' || type === 'externalSandbox') return null;
    throw new ExecError(
      'sandboxUnavailable',
      'This server cannot enforce the sandbox policy; nothing was run.',
    );
  };
}

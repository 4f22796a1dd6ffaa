import { type AppSandboxPolicy, ExecError, type Sandbox } from '../protocol/index.js';

/** What a request says about confinement. At most one of the two is given. */
export interface SandboxChoice {
  readonly policy: AppSandboxPolicy | null;
  readonly profile: string | null;
  /** Where the program will run; undefined: where the environment works. */
  readonly cwd: string | undefined;
  /** Where the environment works, as a `file:` URI; null if it does not tell. */
  readonly workspace: string | null;
}

/** Turns a choice into what the environment has to enforce; null for nothing. Throws rather than run bare. */
export type SandboxChooser = (choice: SandboxChoice) => Sandbox | null;

const CONFINING_PROFILES = [':read-only', ':workspace'];

/** For environments that enforce nothing: whatever would need it is refused. */
export function refuseConfinement(defaultPolicy: AppSandboxPolicy): SandboxChooser {
  return ({ policy, profile }) => {
    if (profile === ':danger-full-access') return null;
    if (profile !== null && !CONFINING_PROFILES.includes(profile)) {
      throw new ExecError('invalidRequest', 'invalid permission profile: there is none of this name');
    }
    const type = profile === null ? (policy ?? defaultPolicy).type : 'readOnly';
    if (type === 'dangerFullAccess' || type === 'externalSandbox') return null;
    throw new ExecError(
      'sandboxUnavailable',
      'This server cannot enforce the sandbox policy; nothing was run.',
    );
  };
}

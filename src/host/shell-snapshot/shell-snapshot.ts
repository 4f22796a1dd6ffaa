import { openBytes } from '../kernel/index.js';
import { SCRIPT_FD } from '../sandbox/index.js';
import { type EnvironmentChange, restoreScript, type ShellState } from './shell-state.js';

/** What a shell gets instead of running its profile. The code that starts it closes the descriptor. */
export interface SavedState {
  readonly env: Readonly<Record<string, string>>;
  /** What the shell reads before anything else. Nobody else can read it, since it may contain secrets. */
  readonly script: number;
}

/** The state a profile left behind. A later shell starts from it instead of running the profile again. */
export class ShellSnapshot {
  readonly #state: ShellState;
  readonly #change: EnvironmentChange;

  constructor(state: ShellState, change: EnvironmentChange) {
    this.#state = state;
    this.#change = change;
  }

  /**
   * The state for a shell with this environment. Variables requested by name win, whatever the profile did to them.
   * Null if the profile has to run.
   */
  give(
    environment: Readonly<Record<string, string>>,
    asked: Readonly<Record<string, string>>,
  ): SavedState | null {
    const isGiven = (name: string): boolean => Object.hasOwn(asked, name);
    const env = { ...environment };
    for (const [name, value] of this.#change) {
      if (isGiven(name)) continue;
      if (value === null) delete env[name];
      else env[name] = value;
    }
    // In this mode bash reads no file before a command.
    if (Object.hasOwn(env, 'POSIXLY_CORRECT')) return null;
    const script = restoreScript(this.#state, { fd: SCRIPT_FD, bashEnv: env['BASH_ENV'], given: isGiven });
    if (script === null) return null;
    return {
      env: { ...env, BASH_ENV: `/proc/self/fd/${SCRIPT_FD}` },
      script: openBytes(Buffer.from(script)),
    };
  }
}

import type { ConsoleFleet, ConsoleMachine } from './machine.js';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** As machines of a fleet are named everywhere else. */
const FLEET = 'fleet:';

/** Every machine that a page may be connected to. */
export class MachineDirectory {
  /** The configured ones. */
  readonly configured: readonly ConsoleMachine[];
  readonly fleet: ConsoleFleet | null;

  constructor(configured: readonly ConsoleMachine[], fleet: ConsoleFleet | null) {
    this.configured = configured;
    this.fleet = fleet;
  }

  find(id: string): ConsoleMachine | undefined {
    const name = id.startsWith(FLEET) ? id.slice(FLEET.length) : null;
    if (name !== null) return NAME.test(name) ? this.fleet?.machine(name) : undefined;
    return this.configured.find((machine) => machine.id === id);
  }

  /** The machine that a path names: `/machines/ID`, or `/fleet/NAME`. */
  at(path: string): ConsoleMachine | undefined {
    const [, kind, name = ''] = /^\/(machines|fleet)\/([A-Za-z0-9_-]{1,64})$/.exec(path) ?? [];
    if (kind === undefined) return undefined;
    return this.find(kind === 'fleet' ? FLEET + name : name);
  }
}

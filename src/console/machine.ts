import type { Channel } from '../rpc/index.js';

/** A machine that the console shows. */
export interface ConsoleMachine {
  readonly id: string;
  readonly kind: 'local' | 'url' | 'program' | 'fleet';
  /** Where it is, without credentials and arguments. */
  readonly where: string;
  /**
   * Connects a browser to the machine. Resolves when the connection has ended; rejects if the machine cannot be reached.
   * The channel delivers nothing before it is opened.
   */
  serve(channel: Channel, options: { readonly probe: () => void }): Promise<void>;
}

/** What a machine of a fleet says about itself. Nobody has checked it. */
export interface FleetRow {
  readonly name: string;
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string;
  readonly cores: number;
  readonly load: number;
  readonly processes: number;
  readonly sandbox: string;
}

export interface FleetView {
  /** Why the fleet cannot be asked; null if it can. */
  readonly problem: string | null;
  /** The first ones by name. */
  readonly machines: readonly FleetRow[];
  /** How many there are. */
  readonly total: number;
}

/** The machines of a fleet. They come and go. */
export interface ConsoleFleet {
  view(): Promise<FleetView>;
  /** The machine of that name, whether it answers or not. */
  machine(name: string): ConsoleMachine;
}

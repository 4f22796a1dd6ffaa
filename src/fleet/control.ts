import { z } from 'zod';
import { Machine, MachineState } from './machine.js';

/** What an administrator asks of a machine. */
export const ControlRequest = z.object({ state: MachineState });

/** What a machine announces to all watchers. */
export const MachineNews = z.object({ type: z.enum(['joined', 'left', 'changed']), machine: Machine });
export type MachineNews = z.output<typeof MachineNews>;

/** A change in the fleet. `lost`: the machine is gone without having said so. */
export interface FleetEvent {
  readonly type: 'joined' | 'changed' | 'left' | 'lost';
  readonly machine: Machine;
}

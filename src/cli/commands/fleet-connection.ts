import { fleetSource } from '../../environment/configuration-home.js';
import { Fleet, readFleetSettings } from '../../fleet/index.js';

/** Connects to the configured fleet for the duration of `use`. */
export async function withFleet<Result>(use: (fleet: Fleet) => Promise<Result>): Promise<Result> {
  const fleet = await Fleet.connect(readFleetSettings(fleetSource()));
  try {
    return await use(fleet);
  } finally {
    await fleet.close();
  }
}

import { Bus } from '../bus/bus.js';
import { DEFAULT_FLEET, type FleetSettings } from '../bus/bus-settings.js';
import { createStreams } from './create-streams.js';

/** Creates the streams of a fleet, or leaves those that exist as they are. For administrators. */
export async function prepareFleet(settings: FleetSettings): Promise<void> {
  const bus = await Bus.connect(settings, 'execwire prepare');
  try {
    await createStreams(bus, settings.fleet ?? DEFAULT_FLEET);
  } finally {
    await bus.close('the streams are there');
  }
}

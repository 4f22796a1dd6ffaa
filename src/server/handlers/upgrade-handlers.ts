import { version } from '../../host/index.js';
import { ExecError, type ExecMethods } from '../../protocol/index.js';
import type { Handlers } from '../../rpc/index.js';
import type { Upgrades } from '../durable/upgrades.js';

type UpgradeMethods = Pick<ExecMethods, 'server/status' | 'server/upgrade'>;

/** A client that may start any program here may also replace the server. */
export function upgradeHandlers(upgrades: Upgrades | null): Handlers<UpgradeMethods> {
  const required = (): Upgrades => {
    if (upgrades) return upgrades;
    throw new ExecError(
      'upgradeUnavailable',
      'This server cannot be replaced while it runs. Start it with `execwire serve --durable DIR`.',
    );
  };
  return {
    'server/status': () => ({ version, ...required().status }),
    'server/upgrade': (request) => required().upgrade(request),
  };
}

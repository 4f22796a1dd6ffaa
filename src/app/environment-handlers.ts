import type { AppMethods } from '../protocol/index.js';
import type { Handlers } from '../rpc/index.js';
import { environmentTarget } from './environment-rules.js';
import type { AppEnvironments } from './environments.js';

type EnvironmentMethods = Pick<AppMethods, Extract<keyof AppMethods, `environment/${string}`>>;

/** The `environment/*` methods. `replaced` is called with ids that now refer to another environment. */
export function environmentHandlers(
  environments: AppEnvironments,
  replaced: (environmentId: string) => void,
): Handlers<EnvironmentMethods> {
  return {
    'environment/add': async (params) => {
      const target = environmentTarget(params);
      await environments.add(target);
      replaced(target.environmentId);
      return {};
    },
    'environment/info': async ({ environmentId }) => await environments.info(environmentId),
    'environment/status': async ({ environmentId }) => await environments.status(environmentId),
  };
}

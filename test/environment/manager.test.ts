import { expect, test } from 'vitest';
import type { Environment } from '../../src/contract/index.js';
import { EnvironmentManager, LocalEnvironment } from '../../src/environment/index.js';

const NOTHING = { environments: [], includeLocal: false, defaultId: null };
const url = 'ws://127.0.0.1:1';

test('an environment that is replaced while it is being connected is closed when it comes', async () => {
  let arrive: (environment: Environment) => void = () => undefined;
  const slow = new Promise<Environment>((resolve) => {
    arrive = resolve;
  });
  let isClosed = false;
  const environment = new LocalEnvironment({ id: 'box' });
  environment.close = async () => {
    isClosed = true;
  };
  await using manager = new EnvironmentManager(NOTHING, { open: () => slow });
  await manager.add({ id: 'box', url });
  const opening = manager.get('box');
  await manager.add({ id: 'box', url });
  arrive(environment);
  await opening;
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  expect(isClosed).toBe(true);
});

test('there is a limit to what can be added, and none to replacing', async () => {
  await using manager = new EnvironmentManager(NOTHING, { open: async () => new LocalEnvironment() });
  for (let count = 0; count < 1024; count += 1) await manager.add({ id: `box-${count}`, url });
  await expect(manager.add({ id: 'one-more', url })).rejects.toMatchObject({ code: 'overloaded' });
  await manager.add({ id: 'box-0', url });
});

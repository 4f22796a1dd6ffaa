import type { SetKeeping } from '../../host/index.js';
import type { DescriptorKeeper } from './durable-state.js';

/** Begins the keys of descriptors of held changes, before the folder of their set. */
export const CHANGES_KEY = 'changes ';

/** Lets the next server continue with held changes while programs run in them. */
export function keepChanges(keeper: DescriptorKeeper): (folder: string) => SetKeeping {
  return (folder) => ({
    hold: (descriptors) => keeper.hold(`${CHANGES_KEY}${folder}`, descriptors),
    letGo: () => keeper.letGo(`${CHANGES_KEY}${folder}`),
  });
}

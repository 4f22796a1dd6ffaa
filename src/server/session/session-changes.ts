import type { ChangesUpdate } from '../../contract/index.js';
import { type ChangeSets, type ChangesOwner, OwnedChanges } from '../../host/index.js';
import { Notices } from '../push/notices.js';
import type { PushTarget } from '../push/output-pusher.js';

/** The held changes of a session, and the word to its client when a set may have grown. */
export class SessionChanges {
  readonly owned: OwnedChanges;
  readonly #target: () => PushTarget | undefined;
  readonly #stopWatching: () => void;

  constructor(
    sets: ChangeSets,
    { owner, target }: { owner: () => ChangesOwner; target: () => PushTarget | undefined },
  ) {
    this.owned = new OwnedChanges(sets, owner);
    this.#target = target;
    this.#stopWatching = this.owned.watch(
      (update) => this.#tell(update),
      () => target() !== undefined,
    );
  }

  /** The session is over, and with it the sets that belong to it alone. */
  async close(): Promise<void> {
    this.#stopWatching();
    await this.owned.close();
  }

  #tell(update: ChangesUpdate): void {
    const notices = new Notices((message) => this.#target()?.send(message));
    notices.add('changes/updated', update);
    this.#target()?.queue.schedule(notices);
  }
}

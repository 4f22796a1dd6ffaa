import type { ChangesOwner } from '../host/index.js';

/** Clients without a principal started this server themselves, so they act as the user of this machine. */
export function clientOf(principal: string | undefined): string {
  return principal === undefined ? 'local' : `client:${principal}`;
}

/** Whose sets of held changes a session can use. */
export function ownerOf({ id, principal }: { id: string; principal: string | undefined }): ChangesOwner {
  return { session: `session:${id}`, client: clientOf(principal), share: principal };
}

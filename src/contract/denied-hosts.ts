import type { NetworkDenial } from '../protocol/index.js';

const WHY: Readonly<Record<string, string>> = {
  not_allowed: 'not allowed',
  not_allowed_local: 'private or local',
  other_name: 'asked for on a connection to another host',
  unanswered: 'nobody answered the question',
};

/** More than this nobody reads. */
const MAX_SHOWN = 5;

/** The hosts a program was kept from, as people read them: `a.example:443 (not allowed)`. */
export function deniedHosts(denials: readonly NetworkDenial[]): string {
  const shown = denials.slice(0, MAX_SHOWN).map(({ host, port, reason }) => {
    const name = host.includes(':') ? `[${host}]` : host;
    return `${name}:${port} (${WHY[reason] ?? reason})`;
  });
  const more = denials.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

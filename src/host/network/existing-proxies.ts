import { HTTP_NAMES, SOCKS_NAMES } from './proxy-variables.js';

/** Where a variable finds a proxy: everything before its port, the port, and everything behind it. */
interface ProxyPlace {
  readonly before: string;
  readonly port: number;
  readonly behind: string;
}

/** The address of a proxy on loopback. One elsewhere cannot be reached from a sandbox. */
const LOOPBACK_PROXY = /^((?:https?|socks5h?):\/\/(?:[^/@]*@)?)(?:127\.0\.0\.1|localhost):(\d{1,5})(\/?)$/i;

/** The proxies on this machine's loopback that an environment names. */
export class ExistingProxies {
  readonly #places = new Map<string, ProxyPlace>();

  constructor(env: Readonly<Record<string, string>>) {
    for (const name of [...HTTP_NAMES, ...SOCKS_NAMES]) {
      const [, before, digits, behind] = LOOPBACK_PROXY.exec(env[name] ?? '') ?? [];
      const port = Number(digits);
      if (before !== undefined && behind !== undefined && port >= 1 && port <= 65_535)
        this.#places.set(name, { before, port, behind });
    }
  }

  /** Each once. */
  get ports(): number[] {
    return [...new Set([...this.#places.values()].map(({ port }) => port))];
  }

  /** The same variables, where each port outside has another one inside. */
  variables(inside: ReadonlyMap<number, number>): Record<string, string> {
    return Object.fromEntries(
      [...this.#places].flatMap(([name, { before, port, behind }]) => {
        const own = inside.get(port);
        return own === undefined ? [] : [[name, `${before}127.0.0.1:${own}${behind}`]];
      }),
    );
  }
}

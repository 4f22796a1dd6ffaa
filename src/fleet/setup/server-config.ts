import type { Permissions } from './permissions.js';

export interface NodeConfig {
  readonly name: string;
  /** `HOST:PORT` for clients and for the other nodes. */
  readonly listen: string;
  readonly cluster: string;
  /** The cluster addresses of all nodes. */
  readonly routes: readonly string[];
  readonly storeDirectory: string;
  /** Nodes let each other in by this. */
  readonly clusterPassword: string;
}

/** The configuration of one NATS server. Users are in a file of their own, which all nodes share. */
export function nodeConfig(node: NodeConfig): string {
  const { name, listen, cluster, routes, storeDirectory, clusterPassword } = node;
  return `server_name: ${quoted(name)}
listen: ${quoted(listen)}
cluster {
  name: execwire
  listen: ${quoted(cluster)}
  authorization { user: node, password: ${quoted(clusterPassword)} }
  routes: [${routes.map((route) => quoted(`nats://node:${clusterPassword}@${route}`)).join(', ')}]
}
jetstream { store_dir: ${quoted(storeDirectory)} }
# A machine that stops reading must not delay others for long.
write_deadline: "2s"
include users.conf
`;
}

/** All members that may connect, and what each of them may do. */
export function usersConfig(
  users: readonly { readonly publicKey: string; permissions: Permissions }[],
): string {
  const entries = users.map(({ publicKey, permissions: { publish, subscribe } }) => {
    return `    { nkey: ${publicKey}, permissions: {
      publish: { allow: [${publish.map(quoted).join(', ')}] }
      subscribe: { allow: [${subscribe.map(quoted).join(', ')}] }
    } }`;
  });
  return `authorization {\n  users: [\n${entries.join('\n')}\n  ]\n}\n`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'smol-toml';
import { z } from 'zod';
import { ExecError } from '../../protocol/errors.js';
import { loadNats } from '../bus/nats-library.js';
import { requireName } from '../subjects.js';
import { type Member, permissionsOf } from './permissions.js';
import { nodeConfig, usersConfig } from './server-config.js';

const FILE = 'fleet.json';

/** What a directory knows about its fleet. The keys themselves are only in the settings files of their owners. */
const Plan = z.object({
  fleet: z.string(),
  nodes: z.array(z.object({ name: z.string(), listen: z.string(), cluster: z.string() })),
  clusterPassword: z.string(),
  members: z.array(
    z.object({
      name: z.string(),
      role: z.enum(['machine', 'client', 'admin', 'gateway']),
      machines: z.array(z.string()).optional(),
      publicKey: z.string(),
    }),
  ),
});
type Plan = z.output<typeof Plan>;

/** A directory with the configuration of NATS servers for a fleet, and with the credentials of its members. */
export class FleetDirectory {
  readonly path: string;
  readonly #plan: Plan;

  private constructor(path: string, plan: Plan) {
    this.path = path;
    this.#plan = plan;
  }

  /** Plans a fleet in a new directory. */
  static create(
    path: string,
    { fleet, nodes }: { fleet: string; nodes: readonly { listen: string; cluster: string }[] },
  ): FleetDirectory {
    if (existsSync(join(path, FILE)))
      throw new ExecError('invalidConfiguration', `There is already a fleet in ${path}.`, { data: { path } });
    requireName(fleet, 'The name of the fleet');
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const named = nodes.map((node, index) => ({ name: `nats-${index + 1}`, ...node }));
    const clusterPassword = randomBytes(24).toString('hex');
    const directory = new FleetDirectory(path, { fleet, nodes: named, clusterPassword, members: [] });
    directory.#write();
    return directory;
  }

  static open(path: string): FleetDirectory {
    try {
      return new FleetDirectory(path, Plan.parse(JSON.parse(readFileSync(join(path, FILE), 'utf8'))));
    } catch (cause) {
      throw new ExecError(
        'invalidConfiguration',
        `There is no fleet in ${path}; create one with \`execwire fleet init\`.`,
        {
          data: { path },
          cause,
        },
      );
    }
  }

  get fleet(): string {
    return this.#plan.fleet;
  }

  /** The configuration file of each NATS server. */
  get nodeFiles(): string[] {
    return this.#plan.nodes.map(({ name }) => join(this.path, `${name}.conf`));
  }

  get urls(): string[] {
    return this.#plan.nodes.map(({ listen }) => `nats://${listen}`);
  }

  /** Adds somebody. Returns the path of the settings file with their key; nobody else needs it. */
  async add(member: Member): Promise<string> {
    requireName(member.name, 'The name');
    for (const machine of member.machines ?? []) requireName(machine, 'The name of a machine');
    if (this.#plan.members.some(({ name }) => name === member.name))
      throw new ExecError('invalidConfiguration', `"${member.name}" is in the fleet already.`);
    const { nkeys } = await loadNats();
    const key = nkeys.createUser();
    const path = join(this.path, `${member.name}.toml`);
    const { name: identity, machines } = member;
    const settings = {
      servers: this.urls,
      fleet: this.fleet,
      identity,
      nkey: new TextDecoder().decode(key.getSeed()),
    };
    writePrivately(path, stringify(machines ? { ...settings, machines } : settings));
    this.#plan.members.push({
      ...member,
      machines: machines && [...machines],
      publicKey: key.getPublicKey(),
    });
    this.#write();
    return path;
  }

  /** Takes somebody's access away, once the servers have read their configuration again. */
  remove(name: string): void {
    const index = this.#plan.members.findIndex((member) => member.name === name);
    if (index === -1)
      throw new ExecError('invalidConfiguration', `No machine in the fleet is named "${name}".`);
    this.#plan.members.splice(index, 1);
    this.#write();
  }

  #write(): void {
    const { fleet, nodes, members, clusterPassword } = this.#plan;
    const routes = nodes.map(({ cluster }) => cluster);
    for (const node of nodes) {
      const storeDirectory = join(this.path, `${node.name}.data`);
      writePrivately(
        join(this.path, `${node.name}.conf`),
        nodeConfig({ ...node, routes, storeDirectory, clusterPassword }),
      );
    }
    const users = members.map(({ publicKey, ...member }) => ({
      publicKey,
      permissions: permissionsOf(fleet, member),
    }));
    writePrivately(join(this.path, 'users.conf'), usersConfig(users));
    writePrivately(join(this.path, FILE), `${JSON.stringify(this.#plan, null, 2)}\n`);
  }
}

/** Whoever reads the file finds the old content or the new one. */
function writePrivately(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

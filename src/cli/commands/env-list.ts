import { loadEnvironments } from '../../environment/providers.js';
import type { EnvironmentConfig, EnvironmentsConfig } from '../../environment/index.js';
import { parseTarget } from '../../transport/dial-target.js';
import { formatJson, formatTable } from '../terminal/table.js';

/** A row in the list. Addresses appear without credentials, programs without arguments. */
export interface EnvironmentRow {
  readonly id: string;
  readonly kind: 'local' | 'url' | 'program';
  readonly where: string;
  readonly default: boolean;
  /** `pending`: not connected yet; listing does not connect either. */
  readonly status: 'ready' | 'pending';
}

/** Prints the configured environments. */
export function listEnvironments(flags: { json?: boolean }): void {
  const rows = environmentRows(loadEnvironments());
  process.stdout.write(
    flags.json
      ? formatJson(rows)
      : formatTable(
          ['ID', 'KIND', 'WHERE', 'DEFAULT', 'STATUS'],
          rows.map((row) => [row.id, row.kind, row.where, row.default ? 'yes' : '', row.status]),
        ),
  );
}

/** The configured environments, this machine first. */
export function environmentRows(config: EnvironmentsConfig): EnvironmentRow[] {
  const here: EnvironmentRow = {
    id: 'local',
    kind: 'local',
    where: 'this machine',
    default: config.defaultId === 'local',
    status: 'ready',
  };
  const configured = config.environments.map((entry) => ({
    ...address(entry),
    id: entry.id,
    default: config.defaultId === entry.id,
    status: 'pending' as const,
  }));
  return config.includeLocal ? [here, ...configured] : configured;
}

function address(entry: EnvironmentConfig): Pick<EnvironmentRow, 'kind' | 'where'> {
  if (!('url' in entry)) return { kind: 'program', where: entry.program };
  if (/^(fleet|https?):/.test(entry.url)) return { kind: 'url', where: entry.url };
  const { label, address: parsed } = parseTarget(entry.url);
  return { kind: 'url', where: parsed.kind === 'unix' ? `unix://${parsed.path}` : label };
}

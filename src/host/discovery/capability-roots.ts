import { posix } from 'node:path';
import type { FileSystem, WalkResult } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import { fileUri } from '../../protocol/file-uri.js';
import type { Sandbox } from '../../protocol/index.js';
import { type CapabilityFile, CapabilityReader } from './capability-reader.js';

export interface CapabilityRoot {
  readonly path: string;
  readonly sandbox: Sandbox | null;
}

export interface DiscoveredRoot {
  readonly plugin: {
    readonly manifest: CapabilityFile;
    readonly mcpConfig: CapabilityFile | null;
    readonly appsConfig: CapabilityFile | null;
  } | null;
  readonly skills: readonly {
    readonly instructions: CapabilityFile;
    readonly metadata: CapabilityFile | null;
  }[];
  /** Every plugin manifest at or below the root. */
  readonly namespaceManifests: readonly CapabilityFile[];
  readonly warnings: readonly string[];
  readonly error: string | null;
}

/** Where a plugin's manifest may be, in order of preference. */
const MANIFESTS = ['.codex-plugin', '.claude-plugin', '.cursor-plugin'].map((name) => `${name}/plugin.json`);
const SKILL = 'SKILL.md';
const SKILL_METADATA = 'agents/openai.yaml';

/** Skills are a few directories deep; a much larger root was not meant as one. */
const WALK_LIMITS = { maxDepth: 6, maxDirectories: 2000, maxEntries: 20_000 } as const;

/** The plugins and skills below a directory. Never throws: problems are reported in the result. */
export async function discoverRoot(files: FileSystem, root: CapabilityRoot): Promise<DiscoveredRoot> {
  const { sandbox } = root;
  try {
    const metadata = await files.getMetadata(root.path, { sandbox });
    if (!metadata.isDirectory) return failed(`capability root ${fileUri(root.path)} is not a directory`);
    const tree = await files.walk(root.path, { ...WALK_LIMITS, followDirectorySymlinks: true, sandbox });
    return await readRoot(root.path, tree, new CapabilityReader(files, sandbox));
  } catch (error) {
    const reason = isExecError(error) ? error.message : 'unknown failure';
    return failed(`failed to inspect capability root ${fileUri(root.path)}: ${reason}`);
  }
}

async function readRoot(root: string, tree: WalkResult, reader: CapabilityReader): Promise<DiscoveredRoot> {
  const paths = tree.entries.filter(({ kind }) => kind === 'file').map(({ path }) => path);
  const namespaceManifests = await readAll(manifestsAmong(paths), reader);
  const skills = [];
  for (const instructions of await readAll(paths.filter(isSkill).sort(), reader)) {
    const metadata = await reader.read(posix.join(posix.dirname(instructions.path), SKILL_METADATA));
    skills.push({ instructions, metadata });
  }
  const plugin = await readPlugin(root, reader);
  for (const { path, message } of tree.errors)
    reader.warnings.push(`failed to scan capability path ${fileUri(path)}: ${message}`);
  if (tree.truncated)
    reader.warnings.push(`capability root ${fileUri(root)} is too large and was searched in part`);
  return { plugin, skills, namespaceManifests, warnings: reader.warnings, error: null };
}

function isSkill(path: string): boolean {
  return posix.basename(path) === SKILL;
}

/** The preferred manifest of each directory that has one, sorted by path. */
function manifestsAmong(paths: readonly string[]): string[] {
  const best = new Map<string, string>();
  for (const manifest of MANIFESTS.toReversed())
    for (const path of paths)
      if (path.endsWith(`/${manifest}`)) best.set(path.slice(0, -manifest.length), path);
  return [...best.values()].sort();
}

async function readAll(paths: readonly string[], reader: CapabilityReader): Promise<CapabilityFile[]> {
  const found: CapabilityFile[] = [];
  for (const path of paths) {
    const file = await reader.read(path);
    if (file !== null) found.push(file);
  }
  return found;
}

async function readPlugin(root: string, reader: CapabilityReader): Promise<DiscoveredRoot['plugin']> {
  for (const name of MANIFESTS) {
    const manifest = await reader.read(posix.join(root, name));
    if (manifest === null) continue;
    const members = membersOf(manifest.contents) ?? {};
    const config = async (member: string, otherwise: string) =>
      isTable(members[member])
        ? null
        : await reader.read(
            referenced(root, { manifest, member, value: members[member], reader }) ??
              posix.join(root, otherwise),
          );
    return {
      manifest,
      mcpConfig: await config('mcpServers', '.mcp.json'),
      appsConfig: await config('apps', '.app.json'),
    };
  }
  return null;
}

/** Null for a manifest that does not parse: it refers to nothing, and its consumer will report the error. */
export function membersOf(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(json);
    return isTable(value) ? value : null;
  } catch {
    return null;
  }
}

/** In place of a file name, a table gives the configuration inline. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The file a manifest member names; null if none. It must be within the root. */
function referenced(
  root: string,
  from: { manifest: CapabilityFile; member: string; value: unknown; reader: CapabilityReader },
): string | null {
  const { manifest, member, value, reader } = from;
  if (typeof value !== 'string') return null;
  const path = posix.join(root, value);
  const isInside = path.startsWith(root === '/' ? root : `${root}/`);
  if (value.startsWith('./') && isInside) return path;
  const rule = value.startsWith('./') ? 'path must stay within the plugin' : 'path must start with `./`';
  reader.warnings.push(`ignoring ${member} in ${fileUri(manifest.path)}: ${rule}`);
  return null;
}

function failed(error: string): DiscoveredRoot {
  return { plugin: null, skills: [], namespaceManifests: [], warnings: [], error };
}

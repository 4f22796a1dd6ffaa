import { posix } from 'node:path';
import type { FileSystem } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import type { Sandbox } from '../../protocol/index.js';
import { type DiscoveredRoot, discoverRoot, isTable, membersOf } from './capability-roots.js';
import { codexHomeDirectory, userHomeDirectory } from './environment-config.js';
import { type InstalledPlugin, installedPlugins } from './installed-plugins.js';
import { metadataOf, type SkillMetadata, type SkillSummary, summaryOf } from './skill-file.js';

export interface Skill extends SkillSummary, SkillMetadata {
  readonly path: string;
}

export interface RootedSkill extends Skill {
  readonly discoveryRoot: { readonly id: string; readonly path: string };
}

export interface UserPlugin extends InstalledPlugin {
  readonly displayName: string;
  readonly files: NonNullable<DiscoveredRoot['plugin']>;
  readonly skills: readonly Skill[];
}

export interface UserCapabilities {
  readonly plugins: readonly UserPlugin[];
  readonly skills: readonly RootedSkill[];
  readonly warnings: readonly string[];
}

/** Codex's wording, once for each root with something unusable. */
const INCOMPLETE = 'some capability metadata could not be loaded; discovery may be incomplete';

/** Plugin files are sent as they are: all of them together must fit a message. */
const MAX_PLUGIN_BYTES = 16 * 1024 * 1024;

/** The plugins and skills of the user this server runs as. Anything unusable is left out, with a warning. */
export async function discoverUserCapabilities(
  files: FileSystem,
  { sandbox }: { sandbox: Sandbox | null },
): Promise<UserCapabilities> {
  const warnings: string[] = [];
  const incomplete = (): void => void warnings.push(INCOMPLETE);
  const look = async (path: string): Promise<DiscoveredRoot | null> =>
    (await exists(files, path, sandbox)) ? await discoverRoot(files, { path, sandbox }) : null;

  const plugins: UserPlugin[] = [];
  let bytes = 0;
  const cache = posix.join(codexHomeDirectory(), 'plugins/cache');
  for (const installed of await installedPlugins(files, cache, sandbox)) {
    const root = await look(installed.root);
    const plugin = root && (await pluginOf(installed, root, incomplete));
    bytes += plugin ? sizeOf(plugin.files) : 0;
    if (bytes > MAX_PLUGIN_BYTES) {
      incomplete();
      break;
    }
    if (plugin) plugins.push(plugin);
  }

  const skills: RootedSkill[] = [];
  for (const discoveryRoot of skillRoots()) {
    const root = await look(discoveryRoot.path);
    if (root === null) continue;
    const own = await skillsOf(root, incomplete);
    skills.push(...own.map((skill) => ({ ...skill, discoveryRoot })));
  }
  return { plugins, skills, warnings };
}

function skillRoots(): { id: string; path: string }[] {
  return [
    { id: 'codex-home-skills', path: posix.join(codexHomeDirectory(), 'skills') },
    { id: 'user-agent-skills', path: posix.join(userHomeDirectory(), '.agents/skills') },
  ];
}

/** A missing or hidden root is skipped. An unreadable one is tried and then reported as incomplete. */
async function exists(files: FileSystem, path: string, sandbox: Sandbox | null): Promise<boolean> {
  try {
    await files.getMetadata(path, { sandbox });
    return true;
  } catch (error) {
    return !isExecError(error, 'notFound');
  }
}

async function pluginOf(
  installed: InstalledPlugin,
  root: DiscoveredRoot,
  incomplete: () => void,
): Promise<UserPlugin | null> {
  if (root.plugin === null) return null;
  const members = membersOf(root.plugin.manifest.contents);
  if (members === null) {
    incomplete();
    return null;
  }
  const name = textOf(members['name']) ?? posix.basename(installed.root);
  const shown = members['interface'];
  const displayName = isTable(shown) ? textOf(shown['displayName']) : null;
  const skills = await skillsOf(root, incomplete);
  return {
    ...installed,
    displayName: displayName ?? name,
    files: {
      ...root.plugin,
      mcpConfig: isTable(members['mcpServers']) ? root.plugin.manifest : root.plugin.mcpConfig,
    },
    skills: skills.map((skill) => ({ ...skill, name: `${name}:${skill.name}` })),
  };
}

async function skillsOf(root: DiscoveredRoot, incomplete: () => void): Promise<Skill[]> {
  const skills: Skill[] = [];
  let unusable = root.error !== null || root.warnings.length > 0;
  for (const { instructions, metadata } of root.skills) {
    const summary = await summaryOf(instructions);
    if (summary === null) {
      unusable = true;
      continue;
    }
    const details = await metadataOf(metadata).catch(() => {
      unusable = true;
      return { dependencies: null, policy: null };
    });
    skills.push({ ...summary, path: instructions.path, ...details });
  }
  if (unusable) incomplete();
  return skills;
}

function sizeOf({ manifest, mcpConfig, appsConfig }: UserPlugin['files']): number {
  const contents = [manifest, mcpConfig, appsConfig].map((file) => file?.contents ?? '');
  return Buffer.byteLength(contents.join(''));
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

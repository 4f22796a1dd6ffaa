import { posix } from 'node:path';
import { z } from 'zod';
import type { CapabilityFile } from './capability-reader.js';
import { parseFrontMatter, parseYaml } from './yaml-text.js';

/** The front matter of a skill. */
export interface SkillSummary {
  readonly name: string;
  readonly description: string;
  readonly shortDescription: string | null;
}

export interface SkillMetadata {
  readonly dependencies: { readonly tools: readonly SkillTool[] } | null;
  readonly policy: {
    readonly allowImplicitInvocation: boolean | null;
    readonly products: readonly string[];
  } | null;
}

export interface SkillTool {
  readonly type: string;
  readonly value: string;
  readonly description: string | null;
  readonly transport: string | null;
  readonly command: string | null;
  readonly url: string | null;
  readonly oauthCallbackPort: number | null;
}

/** The same as Codex: names are shown in lists. */
const MAX_NAME_CHARACTERS = 64;

/** Text on a single line; unquoted numbers count as text. */
const Words = z
  .union([z.string(), z.number(), z.boolean()])
  .transform((value) => String(value).trim().replaceAll(/\s+/g, ' '));

const FrontMatter = z.object({
  name: Words.nullish(),
  description: Words.pipe(z.string().min(1)),
  metadata: z.object({ 'short-description': Words.nullish() }).nullish(),
});

/** Null if the file has no valid front matter. */
export async function summaryOf({ path, contents }: CapabilityFile): Promise<SkillSummary | null> {
  const text = /^---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(contents)?.[1];
  if (text === undefined) return null;
  try {
    const { name, description, metadata } = FrontMatter.parse(await parseFrontMatter(text));
    const shown = name || posix.basename(posix.dirname(path));
    if (shown.length > MAX_NAME_CHARACTERS) return null;
    return { name: shown, description, shortDescription: metadata?.['short-description'] || null };
  } catch {
    return null;
  }
}

const Product = z
  .string()
  .transform((name) => name.toLowerCase())
  .pipe(z.enum(['codex', 'chatgpt', 'atlas']));

const Tool = z.object({
  type: Words.nullish(),
  value: Words.nullish(),
  description: Words.nullish(),
  transport: Words.nullish(),
  command: Words.nullish(),
  url: Words.nullish(),
});

const Metadata = z.object({
  dependencies: z.object({ tools: z.array(Tool).nullish() }).nullish(),
  policy: z
    .object({ allow_implicit_invocation: z.boolean().nullish(), products: z.array(Product).default([]) })
    .nullish(),
});

const NOTHING: SkillMetadata = { dependencies: null, policy: null };

/** A skill's dependencies and policy. Throws if the file cannot be understood. */
export async function metadataOf(file: CapabilityFile | null): Promise<SkillMetadata> {
  const parsed = file && (await parseYaml(file.contents));
  if (parsed == null) return NOTHING;
  const { dependencies, policy } = Metadata.parse(parsed);
  const tools = (dependencies?.tools ?? []).flatMap(toolOf);
  return {
    dependencies: tools.length === 0 ? null : { tools },
    policy: policy
      ? { allowImplicitInvocation: policy.allow_implicit_invocation ?? null, products: policy.products }
      : null,
  };
}

/** Empty unless both type and value are given. */
function toolOf({ type, value, description, transport, command, url }: z.output<typeof Tool>): SkillTool[] {
  if (!type || !value) return [];
  const optional = (text: string | null | undefined): string | null => text || null;
  return [
    {
      type,
      value,
      description: optional(description),
      transport: optional(transport),
      command: optional(command),
      url: optional(url),
      oauthCallbackPort: null,
    },
  ];
}

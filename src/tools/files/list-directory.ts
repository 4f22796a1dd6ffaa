import { z } from 'zod';
import { shownName } from './shown-name.js';
import { absolutePath, Path } from '../paths.js';
import { answer, tool } from '../tool.js';

/** Nobody reads a longer list. Larger directories are better searched. */
const MAX_ENTRIES = 1000;

export const listDirectory = tool({
  name: 'list_directory',
  title: 'List a directory',
  description: 'Lists a directory.',
  input: z.object({ path: Path.default('.') }),
  output: z.object({
    path: z.string(),
    entries: z.array(
      z.object({
        name: z.string(),
        kind: z.enum(['directory', 'file', 'other']),
        size: z.number().nullable(),
      }),
    ),
    omitted: z.number().int().meta({ description: 'Entries left out because there are too many.' }),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ path }, context) {
    const { environment } = context;
    const absolute = await absolutePath(path, context);
    const found = await environment.files.readDirectory(absolute, { details: true });
    const entries = found
      .map(({ name, isDirectory, isFile, size }) => ({
        name,
        kind: isDirectory ? 'directory' : isFile ? 'file' : 'other',
        size: isFile ? (size ?? null) : null,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, MAX_ENTRIES);
    const omitted = found.length - entries.length;
    const lines = entries.map(({ name, kind }) => shownName(kind === 'directory' ? `${name}/` : name));
    const rest = omitted > 0 ? [`…${omitted} more entries…`] : [];
    return answer([...lines, ...rest].join('\n'), { path: absolute, entries, omitted });
  },
});

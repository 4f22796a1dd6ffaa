import { posix } from 'node:path';
import { z } from 'zod';
import { capLine } from '../text/line-canvas.js';
import { absolutePath, Path } from '../paths.js';
import { answer, tool } from '../tool.js';

/** What fits into a model's view; a cursor leads further. */
const MAX_MATCHES = 200;
/** A hit in minified code must not cost more than all others together. */
const LINE_CHARS = 300;

export const search = tool({
  name: 'search',
  title: 'Search in files',
  description:
    'Finds lines in files below a directory, or in one file. Files that are binary, above 64 MiB or not readable are skipped.',
  input: z.object({
    pattern: z.string().min(1),
    path: Path.default('.'),
    regex: z.boolean().default(false).meta({ description: 'The pattern is a regular expression.' }),
    case_sensitive: z.boolean().default(true),
    globs: z.array(z.string()).optional().meta({
      description: 'File name patterns such as *.ts; a leading ! leaves files out.',
    }),
    hidden: z.boolean().default(false).meta({ description: 'Also look into hidden files.' }),
    max_matches: z.number().int().min(1).max(MAX_MATCHES).default(100),
    cursor: z.string().optional().meta({ description: 'From an earlier answer, to go on from there.' }),
  }),
  output: z.object({
    matches: z.array(z.object({ path: z.string(), line: z.number().int(), text: z.string() })),
    cursor: z.string().nullable().meta({ description: 'Pass it to get more; null at the end.' }),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run(args, { environment, signal }) {
    const absolute = await absolutePath(args.path, environment);
    const page = await environment.files.search(absolute, {
      pattern: args.pattern,
      regex: args.regex,
      caseSensitive: args.case_sensitive,
      hidden: args.hidden,
      maxMatches: args.max_matches,
      cursor: args.cursor ?? null,
      ...(args.globs === undefined ? {} : { globs: args.globs }),
      ...(signal === undefined ? {} : { signal }),
    });
    const shown = asAsked({ asked: args.path, absolute });
    const matches = page.matches.map(({ path, line, text }) => ({
      path,
      line,
      text: capLine(text, LINE_CHARS),
    }));
    const lines = matches.map(({ path, line, text }) => `${shown(path)}:${line}:${text}`);
    const more = page.cursor === null ? [] : [`More matches: cursor ${page.cursor}`];
    const found = lines.length === 0 ? ['No matches.'] : lines;
    const text = [...found, ...more].join('\n');
    return answer(text, { matches, cursor: page.cursor });
  },
});

/** Paths begin as the caller began them, as grep shows them: short, and good for the next call. */
function asAsked({ asked, absolute }: { asked: string; absolute: string }): (path: string) => string {
  const start = asked === '.' ? '' : asked.replace(/\/+$/, '');
  return (path) => {
    if (asked === absolute || !path.startsWith(absolute)) return path;
    return posix.join(start, `.${path.slice(absolute.length)}`);
  };
}

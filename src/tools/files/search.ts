import { posix } from 'node:path';
import { z } from 'zod';
import { hidden } from '../arguments.js';
import { capLine } from '../text/line-canvas.js';
import { absolutePath, Path } from '../paths.js';
import { answer, tool } from '../tool.js';
import { shownName } from './shown-name.js';

/** Matches per page; a cursor fetches the next page. */
const MAX_MATCHES = 200;
/** A match in minified code must not cost more than all the others together. */
const LINE_CHARS = 300;

export const search = tool({
  name: 'search',
  title: 'Search in files',
  description: 'Finds lines in a file or below a directory.',
  input: z.object({
    pattern: z.string().min(1),
    path: Path.default('.'),
    regex: z.boolean().default(false).meta({ description: 'Regex.' }),
    case_sensitive: z.boolean().default(true),
    globs: z.array(z.string()).optional().meta({
      description: '*.ts or !*.js',
    }),
    hidden: hidden(z.boolean().default(false)),
    max_matches: hidden(z.number().int().min(1).max(MAX_MATCHES).default(100)),
    cursor: z.string().optional().meta({ description: 'From an earlier answer.' }),
  }),
  output: z.object({
    matches: z.array(z.object({ path: z.string(), line: z.number().int(), text: z.string() })),
    cursor: z.string().nullable().meta({ description: 'Pass it to get more; null at the end.' }),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run(args, context) {
    const { environment, signal } = context;
    const absolute = await absolutePath(args.path, context);
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
    const displayPath = pathFormatter({ requested: args.path, absolute });
    const matches = page.matches.map(({ path, line, text }) => ({
      path,
      line,
      text: capLine(text, LINE_CHARS),
    }));
    const lines = matches.map(({ path, line, text }) => `${shownName(displayPath(path))}:${line}:${text}`);
    const more = page.cursor === null ? [] : [`More matches: cursor ${page.cursor}`];
    const found = lines.length === 0 ? ['No matches.'] : lines;
    const text = [...found, ...more].join('\n');
    return answer(text, { matches, cursor: page.cursor });
  },
});

/** Prints paths the way grep does, starting with the path the caller gave: short, and usable in the next call. */
function pathFormatter(base: { requested: string; absolute: string }): (path: string) => string {
  const { requested, absolute } = base;
  const start = requested === '.' ? '' : requested.replace(/\/+$/, '');
  return (path) => {
    if (requested === absolute || !path.startsWith(absolute)) return path;
    return posix.join(start, `.${path.slice(absolute.length)}`);
  };
}

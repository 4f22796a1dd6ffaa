import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A piece of a document that is meant to be typed or pasted as it stands. */
export interface Snippet {
  /** `file:line`, to find it by. */
  readonly at: string;
  readonly text: string;
  /** What a fence says it is; `indented` for a block without a fence, `span` for code within a sentence. */
  readonly kind: string;
}

/** What people read before and while they use Execwire. */
export const documents: readonly string[] = [
  'README.md',
  'ARCHITECTURE.md',
  'SECURITY.md',
  'examples/README.md',
  'docs/README.md',
  ...['docs/guides', 'docs/reference'].flatMap((folder) =>
    readdirSync(`${root}/${folder}`).map((name) => `${folder}/${name}`),
  ),
].filter((name) => name.endsWith('.md'));

/** All code of a document, blocks whole. */
export function snippetsOf(document: string): Snippet[] {
  const found: Snippet[] = [];
  const text = readFileSync(`${root}/${document}`, 'utf8');
  const code = /^```(\w*)\n([^]*?)^```$|((?:^ {4}.*\n)+)|`([^`\n]+)`/gm;
  for (const { index, 1: fence, 2: fenced, 3: indented, 4: span } of text.matchAll(code)) {
    const at = `${document}:${text.slice(0, index).split('\n').length}`;
    if (fenced !== undefined) found.push({ at, kind: fence ?? '', text: fenced });
    else if (indented !== undefined)
      found.push({ at, kind: 'indented', text: indented.replaceAll(/^ {4}/gm, '') });
    else if (span !== undefined) found.push({ at, kind: 'span', text: span });
  }
  return found;
}

/** The commands of a line, each as the words a shell would make of it. */
export function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]];
  const piece = /\s*(?:(#.*)|(&&|[|;])|((?:'[^']*'|"[^"]*"|[^\s'"|;&])+))/y;
  for (let match = piece.exec(line); match; match = piece.exec(line)) {
    const [, comment, joint, word] = match;
    if (comment !== undefined) break;
    if (joint !== undefined) commands.push([]);
    else if (word !== undefined) commands.at(-1)?.push(word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  return commands.filter((words) => words.length > 0);
}

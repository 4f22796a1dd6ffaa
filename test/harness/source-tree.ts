import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const src = join(root, 'src');
const texts = new Map<string, string>();

/** One file importing another; both are paths below src/. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

export function fileInRoot(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

/** Every TypeScript file below src/, as a path from there. */
export function sources(): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
}

/** A source file's text. Each is read once: the layer test asks for all of them several times. */
export function textOf(file: string): string {
  const known = texts.get(file) ?? readFileSync(join(src, file), 'utf8');
  texts.set(file, known);
  return known;
}

/** The file below src/ that a relative import in `file` means. */
function targetOf(file: string, specifier: string): string {
  return relative(src, resolve(join(src, dirname(file)), specifier)).replace(/\.js$/, '.ts');
}

/** All imports of a file, including those of types and those that wait until they are called. */
export function importsOf(file: string): Import[] {
  const found = textOf(file).matchAll(/(?:from|import)\s*\(?\s*['"](\.\.?\/[^'"]+)['"]/g);
  return [...found].map(([, specifier = '']) => ({ from: file, to: targetOf(file, specifier) }));
}

/** What a file needs before it can run. Types are gone by then, and `import()` waits until it is called. */
export function neededBy(file: string): string[] {
  const statements = textOf(file).matchAll(
    /^(?:import|export) (?!type )(?:([^;'"]*?) from )?['"](\.\.?\/[^'"]+)['"]/gm,
  );
  return [...statements].flatMap(([, names = '', specifier = '']) => {
    const isTypesOnly = /^\{\s*(?:type [^,]+,?\s*)+\}$/.test(names);
    return isTypesOnly ? [] : [targetOf(file, specifier)];
  });
}

/** The names that an `index.ts` passes on. */
export function namesExportedBy(index: string): string[] {
  const lists = textOf(index).matchAll(/export (?:type )?\{([^}]*)\}/g);
  return [...lists].flatMap(([, list = '']) =>
    [...list.matchAll(/(?:type )?(?:\w+ as )?(\w+)\s*(?:,|$)/g)].map(([, name = '']) => name),
  );
}

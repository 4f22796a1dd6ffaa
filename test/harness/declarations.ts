import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

/** As much of a syntax tree as is looked at here. */
interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Module {
  /** What each name it exports stands for: a declaration of its own, or a name of another module. */
  readonly exports: Map<string, Origin>;
  /** What each name it imports, or declares, stands for. */
  readonly names: Map<string, Origin>;
  readonly declarations: Map<string, Node>;
}

/** A declaration: where it is, and its name there. */
export interface Origin {
  readonly file: string;
  readonly name: string;
}

/** The compiled declarations of the package: which names a file exports, and which others their types mention. */
export class Declarations {
  readonly #modules = new Map<string, Module>();

  /** Where each exported name is declared. */
  exportsOf(file: string): Map<string, Origin> {
    return new Map(
      [...this.#module(file).exports].map(([name, origin]) => [name, this.#resolve(origin)] as const),
    );
  }

  /** The declarations of ours that a declaration mentions. */
  mentions({ file, name }: Origin): Origin[] {
    const module = this.#module(file);
    const declaration = module.declarations.get(name);
    if (!declaration) return [];
    return [...namesIn(declaration)].flatMap((each) => {
      const origin = module.names.get(each);
      return origin && each !== name ? [this.#resolve(origin)] : [];
    });
  }

  #resolve(origin: Origin): Origin {
    const module = this.#module(origin.file);
    if (module.declarations.has(origin.name)) return origin;
    const candidates = [module.exports.get(origin.name), module.names.get(origin.name)];
    // A list of exports names what was imported as if it were here.
    const next = candidates.find((each) => each && !(each.file === origin.file && each.name === origin.name));
    return next ? this.#resolve(next) : origin;
  }

  #module(file: string): Module {
    const known = this.#modules.get(file);
    if (known) return known;
    const module = readModule(file);
    this.#modules.set(file, module);
    return module;
  }
}

function readModule(file: string): Module {
  const module: Module = { exports: new Map(), names: new Map(), declarations: new Map() };
  // The parser's own types describe JavaScript only.
  const { body } = parseAst(readFileSync(file, 'utf8'), { lang: 'dts' }) as unknown as { body: Node[] };
  for (const statement of body) readStatement(statement, file, module);
  return module;
}

function readStatement(statement: Node, file: string, module: Module): void {
  const source = sourceOf(statement, file);
  if (statement.type === 'ImportDeclaration') {
    for (const specifier of nodes(statement['specifiers'])) {
      if (!source) continue;
      const imported = nameOf(specifier['imported']) ?? 'default';
      module.names.set(nameOf(specifier['local']) ?? '', { file: source, name: imported });
    }
  } else if (statement.type === 'ExportNamedDeclaration') {
    for (const specifier of nodes(statement['specifiers'])) {
      const exported = nameOf(specifier['exported']) ?? '';
      module.exports.set(exported, { file: source ?? file, name: nameOf(specifier['local']) ?? '' });
    }
    if (isNode(statement['declaration'])) declare(statement['declaration'], { file, module, exported: true });
  } else declare(statement, { file, module, exported: false });
}

function declare(
  node: Node,
  { file, module, exported }: { file: string; module: Module; exported: boolean },
) {
  const declarators = node.type === 'VariableDeclaration' ? nodes(node['declarations']) : [node];
  for (const declarator of declarators) {
    const name = nameOf(declarator['id']);
    if (name === undefined) continue;
    const earlier = module.declarations.get(name);
    // A constant and a type of one name are one thing to their users; so are overloads.
    module.declarations.set(name, earlier ? { type: 'Both', parts: [earlier, declarator] } : declarator);
    module.names.set(name, { file, name });
    if (exported) module.exports.set(name, { file, name });
  }
}

/** Every identifier a type may be named by; values that types are taken from (`typeof`) need no name. Names that stand for something else are not ours and lead nowhere. */
function namesIn(node: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(node)) for (const each of node) namesIn(each, found);
  else if (isNode(node)) {
    if (node.type === 'TSTypeReference') found.add(firstName(node['typeName']));
    if (/^TS(ClassImplements|InterfaceHeritage)$/.test(node.type)) found.add(firstName(node['expression']));
    if (node.type === 'ClassDeclaration') found.add(firstName(node['superClass']));
    for (const [member, value] of Object.entries(node)) if (member !== 'type') namesIn(value, found);
  }
  return found;
}

/** The `a` of `a` and of `a.b.c`. */
function firstName(node: unknown): string {
  if (!isNode(node)) return '';
  return nameOf(node) ?? firstName(node['left'] ?? node['object']);
}

function sourceOf(statement: Node, file: string): string | undefined {
  const source = isNode(statement['source']) ? statement['source']['value'] : undefined;
  if (typeof source !== 'string' || !source.startsWith('.')) return undefined;
  return resolve(dirname(file), source.replace(/\.js$/, '.d.ts'));
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && typeof node['name'] === 'string' ? node['name'] : undefined;
}

function nodes(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

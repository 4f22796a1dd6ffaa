import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

/**
 * Writes the types of what users import, and of what those mention. What a module declares beside that is left out: it
 * would make the package larger by a tenth, and nobody could import it.
 */
export function writeDeclarations(root, subpaths) {
  const [dist, types] = [join(root, 'dist'), join(root, 'dist', 'types')];
  const modules = new Map();
  for (const { module } of subpaths) useAll(modules, module.replace(/\.js$/, '.d.ts'));
  rmSync(types, { recursive: true, force: true });
  for (const [file, { code, statements }] of modules) {
    const target = join(types, relative(dist, file));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, usedText(code, statements));
  }
}

function moduleOf(modules, file) {
  if (!modules.has(file)) {
    const code = readFileSync(file, 'utf8');
    modules.set(file, { file, code, statements: statementsOf(file, code) });
  }
  return modules.get(file);
}

/**
 * The statements of a module, each with the comment above it: what it declares, what it mentions, and of imports and
 * exports the names one by one.
 */
function statementsOf(file, code) {
  let from = 0;
  const { body } = /** @type {{ body: any[] }} */ (parseAst(code, { lang: 'dts' }));
  return body.map((node) => {
    const statement = { from, start: node.start, end: node.end, node, used: new Set() };
    from = node.end;
    const source = node.source?.value;
    const target = source && join(dirname(file), source.replace(/\.js$/, '.d.ts'));
    return {
      ...statement,
      target: target && existsSync(target) ? target : undefined,
      passes: Boolean(node.source) || (node.specifiers?.length ?? 0) > 0,
      declares: new Set(declaredNames(node.declaration ?? node)),
    };
  });
}

function declaredNames(node) {
  if (node.type === 'VariableDeclaration') return node.declarations.map(({ id }) => id.name);
  return node.id?.name ? [node.id.name] : [];
}

function useAll(modules, file) {
  for (const { node } of moduleOf(modules, file).statements) {
    for (const { exported } of node.specifiers ?? []) if (exported) useExport(modules, file, exported.name);
    for (const name of declaredNames(node.declaration ?? {})) useExport(modules, file, name);
  }
}

/** Marks what a module exports under a name, wherever that is declared. */
function useExport(modules, file, name) {
  for (const statement of moduleOf(modules, file).statements) {
    const { node, target, used } = statement;
    if (node.type === 'ExportAllDeclaration') throw new Error(`${file}: exports without a list of names`);
    const passed = node.specifiers?.find(({ exported }) => exported?.name === name);
    if (!passed || used.has(name)) continue;
    used.add(name);
    if (target) useExport(modules, target, passed.local.name);
    else if (!node.source) useLocal(modules, file, passed.local.name);
  }
  useLocal(modules, file, name);
}

/** Marks what a name means inside a module, and what that mentions. */
function useLocal(modules, file, name) {
  for (const { node, target, used, declares } of moduleOf(modules, file).statements) {
    if (used.has(name)) continue;
    const imported =
      node.type === 'ImportDeclaration' && node.specifiers.find(({ local }) => local.name === name);
    if (imported) {
      used.add(name);
      if (target) useImported(modules, target, imported);
    } else if (declares.has(name)) {
      used.add(name);
      for (const mentioned of namesIn(node)) useLocal(modules, file, mentioned);
      for (const path of importsIn(node))
        useAll(modules, join(dirname(file), path.replace(/\.js$/, '.d.ts')));
    }
  }
}

function useImported(modules, target, { imported }) {
  // A whole namespace.
  if (!imported) useAll(modules, target);
  else useExport(modules, target, imported.name);
}

/** Every word that may be the name of something; one too many costs a line, one too few would break the types. */
function* namesIn(node) {
  for (const inner of nodesIn(node)) if (inner.type === 'Identifier') yield inner.name;
}

/** `import('./x.js')` in the middle of a type. */
function* importsIn(node) {
  for (const inner of nodesIn(node)) {
    const path = inner.type === 'TSImportType' ? inner.source?.value : undefined;
    if (path?.startsWith('.')) yield path;
  }
}

function* nodesIn(node) {
  if (node === null || typeof node !== 'object') return;
  if (typeof node.type === 'string') yield node;
  for (const child of Object.values(node)) yield* nodesIn(child);
}

function usedText(code, statements) {
  const kept = statements.flatMap((statement) => {
    const { node, from, start, used, end, passes } = statement;
    if (!passes) return used.size > 0 || staysAnyway(node) ? [code.slice(from, end)] : [];
    const all = node.specifiers;
    const wanted = all.filter(({ exported, local }) => used.has((exported ?? local).name));
    if (wanted.length === all.length) return [code.slice(from, end)];
    if (wanted.length === 0) return [];
    const names = wanted.map((each) => code.slice(each.start, each.end)).join(', ');
    const [open, close] = [code.indexOf('{', start), code.lastIndexOf('}', end)];
    return [`${code.slice(from, open)}{ ${names} }${code.slice(close + 1, end)}`];
  });
  return `${kept.join('').trimStart()}\n`;
}

/** What has an effect without being mentioned: `export {}`, `declare global`, an import for its effect. */
function staysAnyway(node) {
  return !node.declaration && declaredNames(node).length === 0;
}

import { parseAst } from 'rolldown/parseAst';

/**
 * @typedef {any} Node Of a syntax tree.
 * @typedef {{ properties: Node[], at: number }} Member Of an object literal.
 */

/** Leaves the descriptions of members out of the wire's schemas: no program reads them, and they are a third of the protocol. */
export const withoutDescriptions = without('descriptions', ({ type, callee, arguments: [options] = [] }) =>
  type === 'CallExpression' && callee.property?.name === 'meta' ? member(options, 'description') : undefined,
);

/** What methods and errors are for, too: for bundles that do not export their tables. */
export const withoutDocs = without('docs', (node) =>
  node.type === 'ObjectExpression' ? member(node, 'doc') : undefined,
);

/**
 * A plugin for Vite and Rolldown that cuts something out of the modules of the protocol. `find` says which member of which
 * object; a call of `meta` that would be left with nothing goes, too.
 * @param {string} name
 * @param {(node: Node) => Member | undefined} find
 */
function without(name, find) {
  return {
    name: `without-${name}`,
    transform: {
      filter: { id: /\/(?:dist|src)\/protocol\/.*\.[jt]s$/ },
      /** @param {string} code @param {string} id */
      handler(code, id) {
        const cuts = [...nodesIn(parseAst(code, { lang: id.endsWith('.ts') ? 'ts' : 'js' }))]
          .flatMap((node) => {
            const found = find(node);
            return found ? [cutOf(node, found)] : [];
          })
          .toSorted((one, other) => other.start - one.start);
        return cuts.reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), code);
      },
    },
  };
}

/** @param {Node} object @param {string} name @returns {Member | undefined} */
function member({ properties }, name) {
  const at = properties.findIndex((/** @type {Node} */ { key }) => key?.name === name);
  return at < 0 ? undefined : { properties, at };
}

/** @param {Node} node @param {Member} found */
function cutOf(node, { properties, at }) {
  if (properties.length === 1 && node.callee) return { start: node.callee.object.end, end: node.end };
  const next = properties[at + 1];
  const start = next || at === 0 ? properties[at].start : properties[at - 1].end;
  return { start, end: next ? next.start : properties[at].end };
}

/** @param {unknown} node @returns {Generator<Node, void>} */
function* nodesIn(node) {
  if (node === null || typeof node !== 'object') return;
  if ('type' in node) yield node;
  for (const child of Object.values(node)) yield* nodesIn(child);
}

import { errorCatalogue } from './dialects.mjs';

/** A page with every error code. */
export function errorPage() {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { rpc, doc }]) => `| \`${code}\` | ${rpc ?? '–'} | ${doc} |`,
  );
  const lines = [
    '# Errors',
    '',
    '<!-- Generated from src/protocol by `npm run generate`. -->',
    '',
    'Every error is an `ExecError` with a stable `code`; test it with `isExecError(error, code)`. On the wire the',
    'number is the JSON-RPC error code and `data.code` carries the name. Errors without a number arise on the',
    'side of the caller and never travel.',
    '',
    '| code | number | when |',
    '|---|---|---|',
    ...rows,
  ];
  return `${lines.join('\n')}\n`;
}

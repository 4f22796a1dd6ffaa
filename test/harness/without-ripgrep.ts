import { fileURLToPath } from 'node:url';

const blocker = fileURLToPath(new URL('../fixtures/without-ripgrep.cjs', import.meta.url));

/** Variables of a server that shall find no ripgrep. Another PATH would not do: the system's own directories are looked at first. */
export const withoutRipgrep: Readonly<Record<string, string>> = { NODE_OPTIONS: `--require=${blocker}` };

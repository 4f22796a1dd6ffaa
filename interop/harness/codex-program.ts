import { fileURLToPath } from 'node:url';

/** How to call the pinned Codex: through its published launcher, as a user would. */
export const codexProgram: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('../node_modules/@openai/codex/bin/codex.js', import.meta.url)),
];

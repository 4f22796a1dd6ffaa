import { posix } from 'node:path';
import { z } from 'zod';
import { absolutePath, Path } from '../paths.js';
import { answer, tool } from '../tool.js';

export const writeFile = tool({
  name: 'write_file',
  title: 'Write a file',
  description: 'Creates or replaces a text file atomically, with missing directories.',
  input: z.object({ path: Path, content: z.string() }),
  output: z.object({ path: z.string(), bytes_written: z.number().int() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async run({ path, content }, context) {
    const { environment } = context;
    const absolute = await absolutePath(path, context);
    const { files } = environment;
    if (!absolute.startsWith('file:')) await files.createDirectory(posix.dirname(absolute));
    await files.writeFile(absolute, content, { atomic: true });
    const bytes = Buffer.byteLength(content);
    return answer(`Wrote ${bytes} bytes to ${absolute}`, { path: absolute, bytes_written: bytes });
  },
});

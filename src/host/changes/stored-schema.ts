import { createRequire } from 'node:module';
import type { z } from 'zod';

type Zod = typeof z;

/**
 * The schema of something stored, made on first use: loading the library would take longer than many a short command runs,
 * and most hold no changes.
 */
export function storedSchema<Schema>(make: (z: Zod) => Schema): () => Schema {
  let schema: Schema | undefined;
  return () => (schema ??= make((createRequire(import.meta.url)('zod') as { z: Zod }).z));
}

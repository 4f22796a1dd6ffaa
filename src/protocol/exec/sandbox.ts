import { z } from 'zod';

/** What a process or a file operation may touch. Inside `permissions` the wire uses snake_case. */
export const Sandbox = z.looseObject({
  permissions: z.looseObject({ type: z.enum(['disabled', 'external', 'managed']) }),
});
export type Sandbox = z.input<typeof Sandbox>;

export const SandboxType = z.enum(['none', 'linuxSeccomp', 'macosSeatbelt', 'windowsRestrictedToken']);
export type SandboxType = z.output<typeof SandboxType>;

import { decodeBase64, ExecError } from '../protocol/index.js';

/** Decodes the bytes of a write. They are checked before the program is looked up. */
export function stdinDelta(
  method: string,
  params: { readonly deltaBase64?: string | null | undefined; readonly closeStdin: boolean },
): Uint8Array | undefined {
  const { deltaBase64, closeStdin } = params;
  if (deltaBase64 == null) {
    if (closeStdin) return undefined;
    throw new ExecError('invalidParams', `${method} requires deltaBase64 or closeStdin`);
  }
  try {
    return decodeBase64(deltaBase64, 'invalidData');
  } catch (cause) {
    const why = 'it is not standard base64 with padding';
    throw new ExecError('invalidParams', `invalid deltaBase64: ${why}`, { cause });
  }
}

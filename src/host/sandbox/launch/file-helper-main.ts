/**
 * Runs inside the sandbox of a file helper: calls methods of one object and sends back the results. Started as `node
 * file-helper-main.js MODULE EXPORT`; requests arrive on stdin, answers go to stdout. The first message, which answers
 * no request, says that the helper is ready.
 */
import { encodeFrame, FrameReader, type HelperMessage } from './helper-frame.js';

type Target = Readonly<Record<string, unknown>>;

const [, , moduleUrl = '', exportName = ''] = process.argv;
const loaded = (await import(moduleUrl)) as Readonly<Record<string, Target>>;
const target = loaded[exportName];
if (target === undefined) throw new Error('the module of the file helper lacks its export');

const reader = new FrameReader();
process.stdin.on('data', (chunk: Buffer) => {
  for (const request of reader.push(chunk)) void answer(request);
});
// The server is gone.
process.stdin.on('end', () => process.exit(0));

send({ ready: true });

async function answer({ id, method, args }: HelperMessage): Promise<void> {
  try {
    send({ id, result: await call(String(method), args as unknown[]) });
  } catch (error) {
    send({ id, error: describe(error) });
  }
}

function call(method: string, args: readonly unknown[]): unknown {
  const found = target?.[method];
  if (typeof found !== 'function' || method === 'constructor')
    throw new Error(`there is no method ${method}`);
  return Reflect.apply(found, target, args);
}

function describe(error: unknown): HelperMessage {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, code, data } = error as Error & { code?: unknown; data?: unknown };
  return { name, message, code, data };
}

function send(message: HelperMessage): void {
  for (const part of encodeFrame(message)) process.stdout.write(part);
}

import { startParams } from './processes.mjs';

const TYPED = Buffer.from('hello\n');

/** Starts `cat` on a server. Resolves to a function that types a line and resolves to the milliseconds until it is back. */
export async function openEcho(client) {
  const params = startParams(['cat'], { pipeStdin: true });
  await client.request('process/start', params);
  let writes = 0;
  return async () => {
    const { processId } = params;
    const write = { processId, chunk: TYPED.toString('base64'), writeId: String(++writes) };
    const begun = performance.now();
    const arrived = client.output(TYPED.length).then(() => performance.now());
    const [at] = await Promise.all([arrived, client.request('process/write', write)]);
    return at - begun;
  };
}

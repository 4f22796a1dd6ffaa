import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A web server of somebody else: what a server of ours listens on itself is out of reach for its sandboxes. */
export interface Site {
  readonly port: number;
  readonly url: string;
  stop(): void;
}

/** Starts a site on loopback that gives everybody the same answer. */
export async function startSite(answer = 'hello'): Promise<Site> {
  const script = `require('http').createServer((_, response) => response.end(${JSON.stringify(answer)}))
    .listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  return { port, url: `http://127.0.0.1:${port}/`, stop: () => void child.kill() };
}

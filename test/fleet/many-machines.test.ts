// Needs: nats-server
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { fanOut, Fleet, parseSelector } from '../../src/fleet/index.js';
import { FleetMachines } from '../../testkit/fleet-machines.mjs';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';

/** `EXECWIRE_MACHINES=1000` is the long form. */
const COUNT = Number(process.env['EXECWIRE_MACHINES'] ?? 60);
/** Machines that are programs of their own. */
const REAL = 3;
/** Sessions that are in use while the cluster is restarted. */
const SAMPLE = Math.min(COUNT, 30);
const SLOW_MS = 20_000 + COUNT * 200;

let cluster: NatsCluster;
let machines: FleetMachines;
let fleet: Fleet;
const real: ServerProcess[] = [];
const everybody: string[] = [];

beforeAll(async () => {
  cluster = await NatsCluster.start();
  const servers = cluster.urls;
  machines = await FleetMachines.start({ servers, count: COUNT });
  for (let index = 0; index < REAL; index += 1) {
    const args = [
      '--fleet',
      servers.join(','),
      '--name',
      `real-${index}`,
      '--label',
      'pool=real',
      '--insecure',
    ];
    real.push(await ServerProcess.start({ args }));
  }
  everybody.push(...machines.names, ...real.map((_, index) => `real-${index}`));
  fleet = await Fleet.connect({ servers });
}, SLOW_MS);

afterAll(async () => {
  await fleet.close();
  await Promise.all(real.map((each) => each.stop()));
  await machines.stop();
  await cluster.stop();
}, SLOW_MS);

async function runEverywhere(names: readonly string[]): Promise<Map<string, string>> {
  const said = new Map<string, string>();
  for await (const event of fanOut(fleet, names, { run: { argv: ['sh', '-c', 'echo one; echo two'] } })) {
    if (event.type === 'failed') throw new Error(`${event.machine}: ${event.error.message}`);
    if (event.type === 'output')
      said.set(event.machine, `${said.get(event.machine) ?? ''}${Buffer.from(event.bytes).toString()}`);
    if (event.type === 'ended') expect(event.end).toMatchObject({ kind: 'exited', exitCode: 0 });
  }
  return said;
}

const onAll = (): Map<string, string> => new Map(everybody.map((name) => [name, 'one\ntwo\n']));

test(
  'all of them are listed and selected, live and from the registry',
  async () => {
    const names = async (list: Promise<{ name: string }[]>): Promise<string[]> =>
      (await list).map(({ name }) => name);
    expect(await names(fleet.list())).toEqual(everybody.toSorted());
    await expect.poll(() => names(fleet.listRegistered())).toEqual(everybody.toSorted());
    const third = everybody.filter((name) => /^m\d*3$/.test(name)).toSorted();
    expect(await names(fleet.list(parseSelector('pool=p3')))).toEqual(third);
    expect(await names(fleet.listRegistered(parseSelector('pool=p3')))).toEqual(third);
    expect((await fleet.choose(parseSelector('pool=real'))).name).toMatch(/^real-/);
  },
  SLOW_MS,
);

test(
  'a program runs on each of them, once',
  async () => {
    expect(await runEverywhere(everybody)).toEqual(onAll());
  },
  SLOW_MS,
);

test(
  'nothing is lost while the nodes of the cluster are restarted in turn, under traffic',
  async () => {
    const names = [...machines.names.slice(0, SAMPLE), ...everybody.slice(-REAL)];
    const over = new AbortController();
    const talks = names.map((name) => talk(name, over.signal));
    for (const node of cluster.nodes) {
      cluster.signal(node, 'SIGTERM');
      if (node.child) await once(node.child, 'exit');
      await cluster.restart(node);
      await expect.poll(async () => (await fleet.list()).length, { timeout: SLOW_MS }).toBe(everybody.length);
      // Work that begins meanwhile is as safe as work that goes on.
      expect((await runEverywhere(names)).size).toBe(names.length);
    }
    over.abort();
    const ends = await Promise.all(talks);
    expect(ends.filter(({ typed, echoed }) => typed !== echoed)).toEqual([]);
    expect(ends.filter(({ typed }) => typed.length < 100)).toEqual([]);
    // Channels were saved: nobody had to begin a session anew, or to resume one.
    expect(ends.map(({ dials }) => dials)).toEqual(names.map(() => 1));
    expect(machines.lost).toEqual([]);
    expect(await runEverywhere(everybody)).toEqual(onAll());
  },
  SLOW_MS,
);

/** Types lines into a program until the signal, and reads them back. */
async function talk(
  name: string,
  signal: AbortSignal,
): Promise<{ name: string; typed: string; echoed: string; dials: number }> {
  let dials = 0;
  const dial = async () => {
    dials += 1;
    return await fleet.dial(name);
  };
  await using environment = await RemoteEnvironment.connect({ id: name, dial, resume: true });
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  let echoed = '';
  let woken = (): void => undefined;
  const reading = (async () => {
    for await (const event of cat.events()) {
      if (event.type === 'gap') throw new Error(`${name} lost ${event.lostBytes} bytes`);
      if (event.type === 'output') echoed += Buffer.from(event.bytes).toString();
      woken();
    }
  })();
  let typed = '';
  for (let count = 0; !signal.aborted; count += 1) {
    const line = `${name} ${count}\n`;
    typed += line;
    const back = new Promise<void>((resolve) => {
      woken = () => echoed.length >= typed.length && resolve();
    });
    await cat.write(Buffer.from(line));
    await Promise.race([back, reading]);
  }
  await cat.closeStdin();
  await reading;
  return { name, typed, echoed, dials };
}

import type { AppClient } from '../../../testkit/app-client.mjs';
import type { AppCase, CaseBench } from '../case.js';

const CLIENT = { clientInfo: { name: 'probe', version: '1' } };

async function initialized(bench: CaseBench, capabilities: object | null): Promise<AppClient> {
  const client = await bench.connect();
  await client.call('initialize', { ...CLIENT, capabilities });
  return client;
}

/** The beginning of a connection, and what a client that did not ask for more is refused. */
export const handshakeCases: readonly AppCase[] = [
  {
    name: 'initialize: what the server tells about itself',
    play: async (bench) => {
      const client = await bench.connect();
      const result = await client.call('initialize', CLIENT);
      const { userAgent, codexHome, ...rest } = result;
      // A server with several clients may go on naming the first.
      const agent = /^\w+\/\d+\.\d+\.\d+\S* \(.+\) \S+ \(\w+; 1\)$/.test(String(userAgent));
      return { ...rest, agent, home: String(codexHome).endsWith('/server-home') };
    },
  },
  {
    name: 'initialize: before it everything is refused, after what does not decode',
    play: async (bench) => {
      const client = await bench.connect();
      return [
        await bench.ask('fs/getMetadata', { path: '/' }, client),
        await bench.ask('process/kill', { processHandle: 'x' }, client),
        await bench.ask('process/kill', { processHandle: 7 }, client),
        await bench.ask('nope/nope', {}, client),
      ];
    },
  },
  {
    name: 'initialize: a refused one may be repeated, an accepted one not',
    play: async (bench) => {
      const client = await bench.connect();
      return await bench.askAll(
        'initialize',
        [
          undefined,
          {},
          { clientInfo: { name: 'probe' } },
          { clientInfo: { version: '1' } },
          { clientInfo: { name: 7, version: '1' } },
          { ...CLIENT, capabilities: [] },
          { ...CLIENT, capabilities: { experimentalApi: 'yes' } },
        ],
        client,
      );
    },
  },
  {
    name: 'initialize: a name that fits no header',
    play: async (bench) => {
      const client = await bench.connect();
      return await bench.ask('initialize', { clientInfo: { name: 'a\nb', version: '1' } }, client);
    },
  },
  {
    name: 'initialize: twice',
    play: async (bench) => await bench.ask('initialize', CLIENT),
  },
  {
    name: 'initialize: without experimentalApi',
    play: async (bench) => {
      const client = await initialized(bench, null);
      return [
        await bench.ask('process/spawn', { command: ['true'], processHandle: 'h', cwd: '/' }, client),
        await bench.ask('process/kill', { processHandle: 'x' }, client),
        await bench.ask('process/kill', { processHandle: 7 }, client),
        await bench.ask('process/writeStdin', { processHandle: 'x' }, client),
        await bench.ask('process/resizePty', { processHandle: 'x', size: { rows: 1, cols: 1 } }, client),
        await bench.ask('environment/status', { environmentId: 'x' }, client),
        await bench.ask('environment/info', { environmentId: 'x' }, client),
        await bench.ask('environment/add', { environmentId: 'x', execServerUrl: 'ws://127.0.0.1:9' }, client),
        await bench.ask('command/exec', { command: ['true'], permissionProfile: ':read-only' }, client),
        await bench.ask('command/exec', { command: [], permissionProfile: ':read-only' }, client),
        await bench.ask('fs/getMetadata', { path: bench.at('missing') }, client),
        await bench.ask('command/exec', { command: ['true'] }, client),
      ];
    },
  },
  {
    name: 'initialize: notifications that are not wanted stay away',
    play: async (bench) => {
      const unwanted = ['process/outputDelta', 'never/heard/of'];
      const client = await initialized(bench, {
        experimentalApi: true,
        optOutNotificationMethods: unwanted,
      });
      const params = { command: ['echo', 'hi'], processHandle: 'h', cwd: '/', streamStdoutStderr: true };
      await client.call('process/spawn', params);
      const exited = await client.exited('h');
      return { exited, deltas: client.notifications('process/outputDelta').length };
    },
  },
];

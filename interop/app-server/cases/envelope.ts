import type { AppCase, CaseBench } from '../case.js';

/** Sends texts as they are; says which answers came, when as many as expected came and then a command ran. */
async function answersTo(
  bench: CaseBench,
  { texts, expected }: { texts: readonly string[]; expected: number },
): Promise<unknown[]> {
  const { wire } = bench.client;
  const answered = () => wire.arrivals.filter((each) => 'id' in each);
  for (const text of texts) wire.send(text);
  await wire.until(() => answered().length >= expected);
  await bench.exec('true');
  // Requests run beside each other: the order of their answers means nothing.
  return answered().slice(0, -1).map(outlined).sort(byText);
}

function outlined(answer: object): unknown {
  const { id, error } = answer as { id: unknown; error?: { code: number } };
  return { id, code: error?.code ?? 'result', members: Object.keys(answer).sort() };
}

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one).localeCompare(JSON.stringify(other));
}

const asks = (id: string, more = ''): string =>
  `{"id":${id},"method":"fs/getMetadata","params":{"path":"/"}${more}}`;

function silent(name: string, ...texts: string[]): AppCase {
  return { name: `envelope: ${name}`, play: (bench) => answersTo(bench, { texts, expected: 0 }) };
}

function answered(name: string, ...texts: string[]): AppCase {
  return { name: `envelope: ${name}`, play: (bench) => answersTo(bench, { texts, expected: texts.length }) };
}

/** Messages, whatever they are about. */
export const envelopeCases: readonly AppCase[] = [
  silent('text that is no message', 'this is not JSON', '[]', '{}', '"text"', '7', 'null', '{"id":1}', '   '),
  answered('ids of all kinds', asks('"text"'), asks('-7'), asks('0'), asks('9007199254740991'), asks('""')),
  silent('ids that are none', asks('null'), asks('1.5'), asks('true'), asks('{}'), asks('[1]')),
  answered('one id twice', asks('5'), asks('5')),
  answered('a jsonrpc member, and members nobody knows', asks('1', ',"jsonrpc":"2.0"'), asks('2', ',"x":1')),
  answered('a wrong jsonrpc member', asks('1', ',"jsonrpc":"1.0"')),
  silent('a method that is no text', '{"id":1,"method":7}', '{"id":2,"method":null}', '{"id":3,"method":{}}'),
  answered('params that are no object', '{"id":1,"method":"fs/getMetadata","params":[]}'),
  answered('params left out', '{"id":1,"method":"fs/getMetadata"}'),
  answered('params of null', '{"id":1,"method":"fs/getMetadata","params":null}'),
  silent('answers nobody waits for', '{"id":1,"result":{}}', '{"id":2,"error":{"code":1,"message":"x"}}'),
  silent('notifications nobody knows', '{"method":"x/y","params":{}}', '{"method":"initialized"}'),
  silent('a request as a notification', '{"method":"fs/getMetadata","params":{"path":"/"}}'),
  answered('white space around', `  ${asks('1')}  `),
  answered(
    'unknown members in params',
    '{"id":1,"method":"fs/getMetadata","params":{"path":"/","x":[1,{"y":2}]}}',
  ),
  silent('a member of params twice', '{"id":1,"method":"fs/getMetadata","params":{"path":"/x","path":"/"}}'),
  answered('methods nobody knows', '{"id":1,"method":"fs/nope","params":{}}', '{"id":2,"method":""}'),
  {
    name: 'envelope: members of a notification',
    play: async (bench) => {
      await bench.spawn('exit 0');
      const [exited] = bench.client.notifications('process/exited');
      return Object.keys(exited ?? {}).sort();
    },
  },
];

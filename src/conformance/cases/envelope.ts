import type { ConformanceCase } from '../case.js';
import { holds, same } from '../verdict.js';

const UNUSABLE = [
  '{"id":1,',
  '{"id":1,"method":"x"} y',
  '[{"id":1,"method":"environment/status"}]',
  '42',
  '{"id":null,"method":"x"}',
  '{"id":1.5,"method":"x"}',
  '{"id":true,"method":"x"}',
  '{"id":9223372036854775808,"method":"x"}',
  '{"id":1,"method":5}',
  '{"id":1}',
  '{"id":1,"method":"x","method":"y"}',
  `{"id":1,"method":"x","params":${'['.repeat(130)}${']'.repeat(130)}}`,
];

const IDS = ['0', '-7', '"x"', '""', '9223372036854775807', '-9223372036854775808', '9007199254740993'];

/** Messages in general. */
export const envelopeCases: readonly ConformanceCase[] = [
  {
    name: 'envelope/unusable-messages',
    says: 'Each unusable message is answered once with id -1 and -32600; the connection stays open.',
    async run({ open }) {
      const wire = await open();
      for (const text of UNUSABLE) wire.send(text);
      await wire.handshake();
      const codes = wire.answers.filter(({ id }) => id === -1).map(({ error }) => error?.code);
      same('answers', codes, Array(UNUSABLE.length).fill(-32600));
    },
  },
  {
    name: 'envelope/ids',
    says: 'Ids are strings or 64-bit integers and come back digit for digit.',
    async run({ open }) {
      const wire = await open();
      for (const id of IDS) wire.send(`{"id":${id},"method":"no/such"}`);
      await wire.until('all answers', () => wire.answers.length >= IDS.length || undefined);
      for (const id of IDS) {
        const echoed = wire.answers.some(({ text }) => text.includes(`"id":${id}`));
        holds(`id ${id} did not come back`, echoed);
      }
    },
  },
  {
    name: 'envelope/same-id-twice',
    says: 'Two requests with the same id are both answered.',
    async run({ ready }) {
      const wire = await ready();
      wire.send('{"id":"twin","method":"environment/status"}');
      wire.send('{"id":"twin","method":"environment/status"}');
      const twins = () => wire.answers.filter(({ id }) => id === 'twin');
      await wire.until('both answers', () => twins().length === 2 || undefined);
    },
  },
  {
    name: 'envelope/unknown-members',
    says: 'Unknown members are ignored, including jsonrpc; the server does not send jsonrpc.',
    async run({ ready }) {
      const wire = await ready();
      wire.send('{"jsonrpc":"7","extra":{},"id":"x","method":"environment/status","params":null}');
      const answer = await wire.answerTo('x');
      same('result', answer.result, { status: 'ready' });
      holds('the answer has a jsonrpc member', !answer.text.includes('jsonrpc'));
    },
  },
  {
    name: 'envelope/no-params',
    says: 'Where no params are expected, absent, null and empty params are the same; anything else is -32602.',
    async run({ ready }) {
      const wire = await ready();
      for (const params of [undefined, null, {}])
        same('result', await wire.call('environment/status', params), { status: 'ready' });
      for (const params of [{ a: 1 }, []])
        same('code', await wire.refusal('environment/status', params), -32602);
    },
  },
  {
    name: 'envelope/violations',
    says: 'An unknown notification ends the connection without an answer.',
    reconnects: true,
    async run({ ready }) {
      const wire = await ready();
      const before = wire.answers.length;
      wire.send('{"method":"no/such"}');
      wire.send('{"id":"behind","method":"environment/status"}');
      await wire.untilClosed();
      same('answers', wire.answers.length, before);
    },
  },
];

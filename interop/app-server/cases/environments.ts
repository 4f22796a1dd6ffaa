import { type AppCase, answers } from '../case.js';

const NOWHERE = 'ws://127.0.0.1:9';

/** `environment/*`: what is refused, and what is known of this machine. */
export const environmentCases: readonly AppCase[] = [
  ...answers('environment/add', {
    'no id': { execServerUrl: NOWHERE },
    'an empty id': { environmentId: '', execServerUrl: NOWHERE },
    'the id of this machine': { environmentId: 'local', execServerUrl: NOWHERE },
    'an empty URL': { environmentId: 'e', execServerUrl: '' },
    'the URL none': { environmentId: 'e', execServerUrl: 'none' },
    'no URL': { environmentId: 'e' },
    'a URL of another kind': { environmentId: 'odd', execServerUrl: 'ftp://127.0.0.1/' },
    'a token and a request id': {
      environmentId: 'e',
      execServerUrl: NOWHERE,
      authBearerToken: ' t ',
      websocketRequestId: '',
    },
    'null for a token': { environmentId: 'e', execServerUrl: NOWHERE, authBearerToken: null },
    'a token that is a number': { environmentId: 'e', execServerUrl: NOWHERE, authBearerToken: 1 },
    'a token with a line break': { environmentId: 'e', execServerUrl: NOWHERE, authBearerToken: 'a\nb' },
    'a request id with a line break': {
      environmentId: 'e',
      execServerUrl: NOWHERE,
      websocketRequestId: 'a\rb',
    },
    'a token for another machine, in the clear': {
      environmentId: 'e',
      execServerUrl: 'ws://192.0.2.1:9',
      authBearerToken: 't',
    },
    'required skills': { environmentId: 'e', execServerUrl: NOWHERE, skills: { required: ['a'] } },
    'skills in a list': { environmentId: 'e', execServerUrl: NOWHERE, skills: [] },
    'skills that are numbers': { environmentId: 'e', execServerUrl: NOWHERE, skills: { required: [1] } },
    'a negative time limit': { environmentId: 'e', execServerUrl: NOWHERE, connectTimeoutMs: -1 },
  }),
  ...answers('environment/info', {
    'this machine': { environmentId: 'local' },
    nobody: { environmentId: 'never-added' },
    'no id': {},
  }),
  ...answers('environment/status', {
    'this machine': { environmentId: 'local' },
    nobody: { environmentId: 'never-added' },
    'no id': {},
  }),
  {
    name: 'environment/info: nobody listens there',
    play: async (bench) => {
      const added = await bench.ask('environment/add', { environmentId: 'e', execServerUrl: NOWHERE });
      return { added, info: await bench.ask('environment/info', { environmentId: 'e' }) };
    },
  },
];

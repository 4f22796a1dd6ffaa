import { expect, test } from 'vitest';
import { cases, webSocketCases } from './cases/index.js';
import { compareServers } from './compare.js';
import { differences } from './differences.js';

compareServers('stdio', cases);

test('every difference is about a case that is played', () => {
  const names = new Set([...cases, ...webSocketCases].map(({ name }) => name));
  expect(names.size).toBe(cases.length + webSocketCases.length);
  expect(Object.keys(differences).filter((name) => !names.has(name))).toEqual([]);
});

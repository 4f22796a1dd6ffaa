import { appendFileSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Journal } from '../../../src/server/durable/journal.js';
import { TestFolder } from '../../harness/processes.js';

test('the next server reads what was put, without what was deleted', () => {
  using folder = new TestFolder();
  const path = folder.file('journal');
  const journal = Journal.create(path);
  journal.put('session a', { n: 1 });
  journal.put('session b', { n: 2 });
  journal.put('session a', { n: 3, text: 'line\nbreak' });
  journal.put('process x', {});
  journal.delete('session b');
  journal.delete('never there');
  const next = Journal.open(path);
  expect([...next.all('session ')]).toEqual([['a', { n: 3, text: 'line\nbreak' }]]);
  expect([...next.all('')].length).toBe(2);
});

test('a part of a line at the end never happened', () => {
  using folder = new TestFolder();
  const path = folder.file('journal');
  Journal.create(path).put('a', { n: 1 });
  const whole = readFileSync(path);
  appendFileSync(path, '["b",{"n"');
  expect([...Journal.open(path).all('')]).toEqual([['a', { n: 1 }]]);
  expect(readFileSync(path)).toEqual(whole);
});

test('it does not grow without bound, and says the same afterwards', () => {
  using folder = new TestFolder();
  const path = folder.file('journal');
  const journal = Journal.create(path);
  journal.put('kept', { n: 0 });
  for (let n = 0; n < 5_000; n += 1) journal.put('often', { n, padding: 'x'.repeat(1000) });
  expect(statSync(path).size).toBeLessThan(2 * 1024 * 1024);
  journal.put('last', { n: 1 });
  expect([...Journal.open(path).all('')].map(([key]) => key)).toEqual(['kept', 'often', 'last']);
});

test('the change with which it is written anew is in the new file', () => {
  using folder = new TestFolder();
  const path = folder.file('journal');
  const said = (): [string, unknown][] => {
    copyFileSync(path, folder.file('copy'));
    return [...Journal.open(folder.file('copy')).all('')];
  };
  const journal = Journal.create(path);
  const long = 'x'.repeat(2 * 1024 * 1024);
  journal.put('long', { long });
  expect(said()).toEqual([['long', { long }]]);
  journal.delete('long');
  expect(said()).toEqual([]);
  let rewritten = 0;
  for (let n = 0; n < 3_000; n += 1) {
    const { ino } = statSync(path);
    journal.put('often', { n, padding: long.slice(0, 1000) });
    if (statSync(path).ino === ino) continue;
    rewritten += 1;
    expect(said()).toMatchObject([['often', { n }]]);
  }
  expect(rewritten).toBeGreaterThan(1);
});

test.each(['{"version":5}', '{"version":0}', '{}'])('a journal that begins with %s is refused', (header) => {
  using folder = new TestFolder();
  writeFileSync(folder.file('journal'), `${header}\n`);
  expect(() => Journal.open(folder.file('journal'))).toThrow('this release knows 1 to 4');
  expect(() => Journal.check(folder.file('journal'))).toThrow('this release knows 1 to 4');
});

test('the journal of an older release stays as it can read it, until there is no way back', () => {
  using folder = new TestFolder();
  const path = folder.file('journal');
  copyFileSync(new URL('../../fixtures/state-1.journal', import.meta.url), path);
  const journal = Journal.open(path);
  expect([...journal.all('session ')].length).toBe(2);
  journal.put('session new', { acknowledged: true, principal: null, detachedAtMs: null });
  expect(readFileSync(path, 'utf8').split('\n', 1)).toEqual(['{"version":1}']);
  expect([...Journal.open(path).all('session ')].length).toBe(3);
  journal.settle();
  expect(readFileSync(path, 'utf8').split('\n', 1)).toEqual(['{"version":4}']);
  expect([...Journal.open(path).all('session ')].length).toBe(3);
});

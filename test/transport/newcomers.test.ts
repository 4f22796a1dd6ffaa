import { describe, expect, test } from 'vitest';
import { originOf } from '../../src/transport/door.js';
import { Newcomers } from '../../src/transport/newcomers.js';

/** Lets newcomers in, by name, and tells who was turned away. */
function door(max: number, maxFrom: number): { add: (origin: string, name: string) => void; away: string[] } {
  const newcomers = new Newcomers({ max, maxFrom: () => maxFrom });
  const away: string[] = [];
  return { add: (origin, name) => newcomers.add({ origin, turnAway: () => away.push(name) }), away };
}

describe('newcomers', () => {
  test('of one origin make room for each other', () => {
    const { add, away } = door(10, 2);
    for (const name of ['a1', 'a2', 'a3']) add('a', name);
    add('b', 'b1');
    expect(away).toEqual(['a1']);
  });

  test('of the origin with the most make room for others', () => {
    const { add, away } = door(3, 3);
    add('b', 'b1');
    for (const name of ['a1', 'a2']) add('a', name);
    add('c', 'c1');
    add('d', 'd1');
    expect(away).toEqual(['a1', 'b1']);
  });

  test('who are gone take no place', () => {
    const newcomers = new Newcomers({ max: 1, maxFrom: () => 1 });
    const away: string[] = [];
    const first = { origin: 'a', turnAway: () => away.push('first') };
    newcomers.add(first);
    newcomers.remove(first);
    newcomers.remove(first);
    newcomers.add({ origin: 'a', turnAway: () => away.push('second') });
    expect(away).toEqual([]);
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['127.0.0.1', 'this machine'],
  ['::1', 'this machine'],
  ['::ffff:127.0.0.2', 'this machine'],
  [undefined, 'this machine'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::1', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['fe80::1', 'fe80:0:0:0'],
])('%s comes from %s', (address, origin) => {
  expect(originOf(address)).toBe(origin);
});

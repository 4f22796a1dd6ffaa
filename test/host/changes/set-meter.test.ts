import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SetMeter } from '../../../src/host/changes/set-meter.js';
import { TestFolder } from '../../harness/processes.js';

const MIB = 1024 * 1024;

/** Enough that walking them takes long. */
const FILES = 12_000;

const LARGEST = { bytes: 64 * MIB, files: 1e6 };

test('a program is stopped while a long walk finds out whether its set is full', {
  timeout: 60_000,
}, async () => {
  using folder = new TestFolder();
  const upper = folder.file('set/0/upper');
  mkdirSync(upper, { recursive: true });
  for (let file = 0; file < FILES; file += 1) closeSync(openSync(`${upper}/${file}`, 'w'));
  const directory = folder.file('set');
  const meter = new SetMeter({ directory, roots: () => 1, largest: () => LARGEST, grown: () => {} });
  await meter.update();
  const said: string[] = [];
  const until = async (word: string): Promise<void> => {
    while (!said.includes(word)) await pause(5);
  };
  const leave = meter.watch({
    initPid: () => null,
    full: () => said.push('full'),
    pause: () => {
      said.push('stopped');
      return () => said.push('goes on');
    },
  });
  try {
    // Somebody else takes the room on the disk.
    writeFileSync(folder.file('elsewhere'), Buffer.alloc(80 * MIB, 1));
    await until('goes on');
    expect(said.slice(0, 2)).toEqual(['stopped', 'goes on']);
    expect(said).not.toContain('full');
    writeFileSync(`${upper}/large`, Buffer.alloc(80 * MIB, 1));
    await until('full');
    expect(said.at(said.indexOf('full') - 1)).toBe('stopped');
    expect(meter.isFull).toBe(true);
  } finally {
    leave();
    await meter.close();
  }
});

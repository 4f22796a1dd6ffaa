import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SharedReading } from '../../src/registry/relay/shared-reading.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(streams: number): { reading: SharedReading<string>; seen: string[]; crowd: { size: number } } {
  const seen: string[] = [];
  const crowd = { size: streams };
  const reading = new SharedReading<string>({
    pause: () => seen.push('pause'),
    resume: () => seen.push('resume'),
    streams: () => crowd.size,
    evict: (stream) => {
      seen.push(`evict ${stream}`);
      reading.forget(stream);
    },
  });
  return { reading, seen, crowd };
}

test('reading goes on when nobody holds it up any more', () => {
  const { reading, seen } = open(3);
  reading.hold('a');
  reading.hold('a');
  reading.hold('b');
  reading.release('a');
  reading.release('a');
  expect(reading.isPaused).toBe(true);
  reading.release('b');
  reading.release('never held');
  expect(seen).toEqual(['pause', 'resume']);
});

test('whoever holds up others for too long is evicted', () => {
  const { reading, seen } = open(2);
  reading.hold('slow');
  vi.advanceTimersByTime(9_000);
  expect(seen).toEqual(['pause']);
  vi.advanceTimersByTime(2_000);
  expect(seen).toEqual(['pause', 'evict slow', 'resume']);
});

test('whoever is alone may take as long as it likes, until somebody else comes', () => {
  const { reading, seen, crowd } = open(1);
  reading.hold('slow');
  vi.advanceTimersByTime(3_600_000);
  expect(seen).toEqual(['pause']);
  crowd.size = 2;
  vi.advanceTimersByTime(11_000);
  expect(seen).toContain('evict slow');
});

test('reading a little now and then does not renew the patience of others', () => {
  const { reading, seen } = open(2);
  for (let turn = 0; turn < 8; turn += 1) {
    reading.hold('trickling');
    vi.advanceTimersByTime(2_000);
    reading.release('trickling');
    vi.advanceTimersByTime(100);
  }
  expect(seen).toContain('evict trickling');
});

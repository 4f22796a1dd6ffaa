import { describe, expect, test } from 'vitest';
import { castCues, schedule } from '../../src/recording/index.js';
import { type Cue } from '../../src/recording/cue.js';
import { inTurn, listed } from './make-history.js';

async function read(...lines: string[]): Promise<Cue[]> {
  return await listed(castCues(inTurn([Buffer.from(lines.join('\n'))])));
}

async function complaint(...lines: string[]): Promise<string> {
  return await read(...lines).then(
    () => 'none',
    (error: unknown) => String(error instanceof Error ? error.message : error),
  );
}

const V2 = '{"version":2,"width":80,"height":24}';
const V3 = '{"version":3,"term":{"cols":80,"rows":24}}';

describe('an asciicast file', () => {
  test('of version 1, on one line or many', async () => {
    const recording = {
      version: 1,
      width: 90,
      height: 20,
      duration: 2,
      stdout: [
        [0.5, 'a'],
        [1, 'b'],
      ],
    };
    for (const text of [JSON.stringify(recording), JSON.stringify(recording, null, 2)])
      expect(await read(text)).toEqual([
        { type: 'start', atMs: 0, size: { cols: 90, rows: 20 }, startedAtMs: null, idleLimitMs: null },
        { type: 'text', atMs: 500, text: 'a' },
        { type: 'text', atMs: 1500, text: 'b' },
      ]);
  });

  test('with input, marks, comments and empty lines', async () => {
    const header = '{"version":2,"width":80,"height":24,"timestamp":5,"idle_time_limit":2.5}';
    expect(
      await read(header, '', '[1,"i","typed"]', '# a comment', '[2,"o","a"]', '[1.5,"m","here"]', ''),
    ).toEqual([
      { type: 'start', atMs: 0, size: { cols: 80, rows: 24 }, startedAtMs: 5000, idleLimitMs: 2500 },
      { type: 'text', atMs: 2000, text: 'a' },
      { type: 'mark', atMs: 2000, label: 'here' },
    ]);
    expect((await read(V3, '[1,"o","a"]', '[1,"i","x"]', '[1,"o","b"]')).map(({ atMs }) => atMs)).toEqual([
      0, 1000, 3000,
    ]);
  });

  test.each<[lines: string[], says: string]>([
    [[], 'line 1 is missing: the file is empty'],
    [['hello'], 'line 1 is not an asciicast header of version 1, 2 or 3'],
    [['{"version":9}'], 'line 1 is not an asciicast header of version 1, 2 or 3'],
    [['[]'], 'line 1 is not an asciicast header of version 1, 2 or 3'],
    [['{"version":2}'], 'line 1 has no terminal size'],
    [['{"version":3,"term":{"cols":1e999,"rows":1}}'], 'line 1 has no terminal size'],
    [['{"version":2,"width":-1,"height":2}'], 'line 1 has no terminal size'],
    [['{"version":1,"width":1,"height":2}'], 'line 1 ends an object without `stdout`'],
    [[V2, '[1,"o","a"]', '[1,"o","a'], 'line 3 is not an event: [time, "o", "text"]'],
    [[V2, '{"a":1}'], 'line 2 is not an event: [time, "o", "text"]'],
    [[V2, '[1,"o",{}]'], 'line 2 is not an event: [time, "o", "text"]'],
    [[V2, '', '["1","o","a"]'], 'line 3 has no time that can be played'],
    [[V2, '[1e999,"o","a"]'], 'line 2 has no time that can be played'],
    [[V2, '[-1,"o","a"]'], 'line 2 has no time that can be played'],
    [[V2, '[1,"r","80"]'], 'line 2 has no terminal size'],
    [[V2, '[1,"r","0x24"]'], 'line 2 has no terminal size'],
  ])('that is damaged is refused with the line: %j', async (lines, says) => {
    expect(await complaint(...lines)).toBe(`The recording cannot be played: ${says}.`);
  });

  test('with an endless line is refused before it fills memory', async () => {
    let pieces = 0;
    async function* endless(): AsyncGenerator<Uint8Array, void> {
      yield Buffer.from(`${V2}\n[1,"o","`);
      for (;;) {
        pieces += 1;
        yield Buffer.alloc(1024 * 1024, 'x');
      }
    }
    const error: unknown = await listed(castCues(endless())).catch((cause: unknown) => cause);
    expect(String(error)).toContain('line 2 is longer than 16777216 bytes');
    expect(pieces).toBeLessThan(20);
  });
});

describe('the schedule', () => {
  const cues = [V2, '[0.5,"o","a"]', '[10.5,"o","b"]', '[10.5,"o","c"]', '[11,"r","90x30"]', '[12,"o","d"]'];

  async function times(options?: Parameters<typeof schedule>[1], header = V2): Promise<[number, string][]> {
    const file = castCues(inTurn([Buffer.from([header, ...cues.slice(1)].join('\n'))]));
    const all = await listed(schedule(file, options));
    return all.map(({ waitMs, cue }) => [waitMs, cue.type === 'text' ? cue.text : cue.type]);
  }

  test('is that of the recording', async () => {
    expect(await times()).toEqual([
      [0, 'start'],
      [500, 'a'],
      [10_000, 'bc'],
      [500, 'resize'],
      [1000, 'd'],
    ]);
  });

  test('faster, with shorter pauses, from somewhere', async () => {
    expect(await times({ speed: 2 })).toEqual([
      [0, 'start'],
      [250, 'a'],
      [5000, 'bc'],
      [250, 'resize'],
      [500, 'd'],
    ]);
    expect(await times({ idleLimitMs: 800 })).toEqual([
      [0, 'start'],
      [500, 'a'],
      [800, 'bc'],
      [500, 'resize'],
      [800, 'd'],
    ]);
    expect(await times({ idleLimitMs: 800, speed: 4 })).toEqual([
      [0, 'start'],
      [125, 'a'],
      [200, 'bc'],
      [125, 'resize'],
      [200, 'd'],
    ]);
    expect(await times({ fromMs: 10_600 })).toEqual([
      [0, 'start'],
      [0, 'abc'],
      [400, 'resize'],
      [1000, 'd'],
    ]);
    expect(await times({ fromMs: 99_000 })).toEqual([
      [0, 'start'],
      [0, 'abc'],
      [0, 'resize'],
      [0, 'd'],
    ]);
  });

  test('keeps to the limit of the recording unless told otherwise', async () => {
    const header = '{"version":2,"width":80,"height":24,"idle_time_limit":2}';
    expect((await times({}, header)).map(([ms]) => ms)).toEqual([0, 500, 2000, 500, 1000]);
    expect((await times({ idleLimitMs: 3000 }, header)).map(([ms]) => ms)).toEqual([0, 500, 3000, 500, 1000]);
  });
});

/** Tests one character. */
type CharacterTest = (character: string) => boolean;

/** `*`, or a test for the next character. */
type Part = '*' | CharacterTest;

/** Returns a test for file names, from a shell pattern with `*`, `?` and `[a-z]`. Names with a leading dot need one in the pattern. */
export function nameTest(pattern: string): (name: string) => boolean {
  const parts = parsePattern(pattern);
  return (name) => (!name.startsWith('.') || pattern.startsWith('.')) && matches(parts, Array.from(name));
}

/** On a mismatch, the last star takes one more character. That is enough, so the time is at most pattern times name. */
function matches(parts: readonly Part[], name: readonly string[]): boolean {
  let [part, at] = [0, 0];
  let [star, starAt] = [-1, 0];
  while (at < name.length) {
    const current = parts[part];
    if (current === '*') [star, starAt, part] = [part, at, part + 1];
    else if (current?.(name[at] ?? '')) [part, at] = [part + 1, at + 1];
    else if (star !== -1) [part, starAt, at] = [star + 1, starAt + 1, starAt + 1];
    else return false;
  }
  return parts.slice(part).every((rest) => rest === '*');
}

function parsePattern(pattern: string): Part[] {
  const parts: Part[] = [];
  const token = /\*|\?|\[(?<not>[!^]?)(?<members>\]?[^\]]*)\]|\\?(?<one>.)/gsu;
  for (const { 0: text, groups = {} } of pattern.matchAll(token)) {
    const { one, members, not } = groups;
    if (text === '*') parts.push('*');
    else if (text === '?') parts.push(() => true);
    else if (members === undefined) parts.push((character) => character === one);
    else parts.push((character) => isMember(members, character) === (not === ''));
  }
  return parts;
}

/** Whether a bracket expression such as `a-cx` contains a character. */
function isMember(members: string, character: string): boolean {
  for (const [, from, to, one] of members.matchAll(/(.)-(.)|(.)/gsu)) {
    if (from !== undefined && to !== undefined && from <= character && character <= to) return true;
    if (one === character) return true;
  }
  return false;
}

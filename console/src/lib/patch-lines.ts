export interface PatchLine {
  readonly line: string;
  readonly kind: 'patch-head' | 'patch-place' | 'added' | 'removed' | '';
}

/**
 * The lines of the patch of one file, each with what it is. What a line begins with does not tell: a file may contain lines
 * that look like the head of a patch once they have a sign before them. So the lines that each part announces are counted.
 */
export function patchLines(text: string): PatchLine[] {
  let [removed, added] = [0, 0];
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      if (removed > 0 || added > 0) {
        if (line.startsWith('+')) added -= 1;
        else if (line.startsWith('-')) removed -= 1;
        else if (!line.startsWith('\\')) [removed, added] = [removed - 1, added - 1];
        return { line, kind: line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : '' };
      }
      const place = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
      if (!place) return { line, kind: line.startsWith('\\') ? '' : 'patch-head' };
      [removed, added] = [Number(place[1] ?? 1), Number(place[2] ?? 1)];
      return { line, kind: 'patch-place' };
    });
}

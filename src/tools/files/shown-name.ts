// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** A name in a list with one per line. One that would look like several, or like an escape sequence, is quoted as in JSON. */
export function shownName(name: string): string {
  if (!CONTROL.test(name)) return name;
  return JSON.stringify(name).replace(/[\u007f-\u009f]/g, (each) => {
    return `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

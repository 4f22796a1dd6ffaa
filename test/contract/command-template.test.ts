import { describe, expect, test } from 'vitest';
import { parseTemplate, type TemplateValue } from '../../src/contract/run/command-template.js';

const words = (strings: TemplateStringsArray, ...values: TemplateValue[]): string[] =>
  parseTemplate(strings, values);

describe('a command as a template', () => {
  test('words are split at the whitespace of the template alone', () => {
    expect(words`git  log
      --oneline ${'a b'} ${''}`).toEqual(['git', 'log', '--oneline', 'a b', '']);
  });

  test('quotes keep words together, and what is in them is meant literally', () => {
    expect(words`grep "a | b" '$HOME' x"y z"${1}'' ""`).toEqual(['grep', 'a | b', '$HOME', 'xy z1', '']);
    expect(words`say "it's ${'"fine"'}"`).toEqual(['say', 'it\'s "fine"']);
  });

  test('an array becomes so many arguments, none for an empty one', () => {
    expect(words`rm -- ${['a b', 2]} ${[]} last`).toEqual(['rm', '--', 'a b', '2', 'last']);
    expect(words`${['echo', 'x']}`).toEqual(['echo', 'x']);
  });

  test.each([
    ['a pipe', () => words`ls | wc`],
    ['a redirection', () => words`echo x >file`],
    ['a variable', () => words`echo $HOME`],
    ['a pattern', () => words`ls *.ts`],
    ['a list', () => words`true && false`],
    ['a substitution', () => words`echo ${'a'}$(id)`],
    ['a home directory', () => words`ls ~/x`],
    ['a backslash', () => words`echo a\\ b`],
    ['braces', () => words`echo {a,b}`],
    ['an open quote', () => words`echo "a`],
    ['an array within a word', () => words`echo x${['a']}`],
    ['text behind an array', () => words`echo ${['a']}x`],
    ['an array in quotes', () => words`echo "${['a']}"`],
    ['no program', () => words` `],
    ['an empty program', () => words`${''} x`],
    ['an object', () => words`echo ${{} as string}`],
    ['nothing', () => words`echo ${undefined as unknown as string}`],
    ['an array in an array', () => words`echo ${[['a']] as unknown as string[]}`],
  ])('refuses %s', (_what, parse) => {
    expect(parse).toThrow(expect.objectContaining({ code: 'invalidParams' }));
  });
});

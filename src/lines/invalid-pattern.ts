import { ExecError } from '../protocol/errors.js';

export function invalidPattern(why: string): ExecError {
  return new ExecError('invalidParams', `The pattern cannot be used: ${why}.`);
}

/** For a group whose `(?` is followed by anything but `:` or a name. */
export function unknownGroup(kind: string): ExecError {
  if (/^<?[=!]/.test(kind))
    return invalidPattern('it uses look-around, which is not supported. Search for the text itself');
  const what = `\`(?${kind[0] ?? ''}\` is not supported`;
  return invalidPattern(
    kind.startsWith('i')
      ? `${what}. Write \`[aA]\` for either case`
      : `${what}. Use \`(?:\` for a group without a name`,
  );
}

/** For a backslash before a letter that has no meaning. */
export function unknownEscape(letter: string): ExecError {
  const what = `\`\\${letter}\``;
  if (/[1-9k]/.test(letter))
    return invalidPattern(`${what} refers back to a group, which is not supported. Write it out`);
  if (/p/i.test(letter))
    return invalidPattern(`${what} is not supported. Use a set such as \`[a-zà-ÿ]\` instead`);
  return invalidPattern(`${what} is not supported. Leave out the backslash if you mean the letter`);
}

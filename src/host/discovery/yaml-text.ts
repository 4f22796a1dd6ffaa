/**
 * Parses hand-written YAML into plain values. Throws if it is not valid. The parser is loaded only if there is a file
 * to read.
 */
export async function parseYaml(text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  // Warnings would go to stderr, which is a log here.
  return parse(text, { logLevel: 'error', prettyErrors: false });
}

/** A value that contains a colon, which YAML takes for a table: `description: Use when: asked`. */
const UNQUOTED = /^([A-Za-z][\w-]*):[ \t]+([^\s'"|>[{&*!#].*:(?:[ \t].*)?)$/gm;

/** Like `parseYaml`, but quotes such values if parsing fails without. */
export async function parseFrontMatter(text: string): Promise<unknown> {
  try {
    return await parseYaml(text);
  } catch {
    const quoted = text.replace(
      UNQUOTED,
      (_, key: string, value: string) => `${key}: ${JSON.stringify(value)}`,
    );
    return await parseYaml(quoted);
  }
}

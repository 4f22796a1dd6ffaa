/** YAML people wrote by hand, as plain values. Throws where it is none. The parser is loaded only when there is a file to read. */
export async function parseYaml(text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  // Warnings would go to stderr, which is a log here.
  return parse(text, { logLevel: 'error', prettyErrors: false });
}

/** A value with a colon in it, which YAML takes for a table: `description: Use when: asked`. */
const UNQUOTED = /^([A-Za-z][\w-]*):[ \t]+([^\s'"|>[{&*!#].*:(?:[ \t].*)?)$/gm;

/** As `parseYaml`, with quotes put around such values if it fails without. */
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

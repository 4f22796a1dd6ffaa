/** What clients put around an answer. */
const WRAPPERS = [
  /^<untrusted_context>\n/,
  /\n<\/untrusted_context>$/,
  /^Wall time: [\d.]+ seconds\nOutput:/,
];

/** An answer of ours as a model reads it in a client: what the tasks want to know of it. */
export function reportOfText(shown) {
  const text = WRAPPERS.reduce((rest, wrapper) => rest.replace(wrapper, ''), shown);
  const [state = '', ...lines] = text.split('\n');
  const id = /session ID (\d+)/.exec(state) ?? /session_id (\d+)/.exec(state);
  return {
    text,
    running: /(?:^|\. )Running/.test(state),
    session_id: id ? Number(id[1]) : undefined,
    password: state.includes('password'),
    match: /^Matched: (.*)\. (?:Running|Exit)/.exec(state)?.[1],
    output: lines.join('\n'),
  };
}

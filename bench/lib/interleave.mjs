/** No single batch takes this long on a working system: whoever exceeds it hangs. */
const DEADLINE_MS = 120_000;

/**
 * Runs `rounds` rounds over all subjects and collects what each returned. Every round begins with another subject, so
 * that load from elsewhere, and whatever one subject leaves behind, meets all of them alike. The first round, if asked
 * for, only warms up.
 */
export async function interleave(subjects, { rounds, warmUp = false }, runOnce) {
  const collected = new Map(subjects.map(({ name }) => [name, []]));
  for (let round = warmUp ? -1 : 0; round < rounds; round += 1) {
    for (let turn = 0; turn < subjects.length; turn += 1) {
      const subject = subjects[(turn + Math.max(round, 0)) % subjects.length];
      const value = await withDeadline(runOnce(subject), subject.name);
      if (round >= 0) collected.get(subject.name).push(value);
    }
  }
  return collected;
}

async function withDeadline(work, name) {
  let timer;
  const expired = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} did not finish in ${DEADLINE_MS} ms`)), DEADLINE_MS);
  });
  try {
    return await Promise.race([work, expired]);
  } catch (cause) {
    throw new Error(`${name}: ${/** @type {Error} */ (cause).message}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

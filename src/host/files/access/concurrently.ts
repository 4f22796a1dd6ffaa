/**
 * Does `work` for every item, at most `limit` at a time. After a failure it begins nothing more, waits for what is under way
 * and throws the first error. No promise is ever left alone with its error: one that nobody awaits would end the server.
 */
export async function concurrently<Item>(
  items: AsyncGenerator<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  /** Never rejects: it keeps its error for the end. */
  const lane = async (): Promise<void> => {
    try {
      for (let next = await items.next(); next.done !== true; next = await items.next()) {
        if (errors.length > 0) return;
        await work(next.value);
      }
    } catch (error) {
      errors.push(error);
    }
  };
  await Promise.all(Array.from({ length: limit }, lane));
  await items.return(undefined);
  if (errors.length > 0) throw errors[0];
}

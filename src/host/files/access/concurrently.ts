/**
 * Runs `work` for every item, at most `limit` at a time. After a failure it starts nothing more, waits for what is
 * under way and throws the first error. No promise is left unhandled, since an unhandled rejection would end the
 * server.
 */
export async function concurrently<Item>(
  items: AsyncGenerator<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  /** Never rejects: errors are kept for the end. */
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

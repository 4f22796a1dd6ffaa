/** How long a connection waits for somebody to allow its host: long enough for a person who has to read the question first. */
export const HOST_ANSWER_LIMIT_MS = 120_000;

/** How long one search of output may occupy the event loop at a time: answers to others wait meanwhile. */
export const SEARCH_SLICE_MS = 1;

export { LinePattern } from './line-pattern.js';
export { readLogLines, type SearchableLog, searchLog } from './log-lines.js';
export { matchingLines } from './text-lines.js';

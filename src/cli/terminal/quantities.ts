const UNITS = ['kB', 'MB', 'GB', 'TB'];
const SECONDS_PER_MINUTE = 60;
const MINUTES_PER_HOUR = 60;

/** Bytes for people: `12 B`, `1.5 kB`, `230.0 MB`. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  let value = bytes / 1000;
  let unit = 0;
  for (; value >= 1000 && unit < UNITS.length - 1; unit += 1) value /= 1000;
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** Files for people: `1 file`, `3 of 12 files`. */
export function countOf(files: number, total: number | undefined): string {
  if (total !== undefined) return `${files} of ${total} files`;
  return files === 1 ? '1 file' : `${files} files`;
}

/** A time for people, rounded up: `8s`, `2m05s`, `1h30m`. */
export function durationOf(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < SECONDS_PER_MINUTE) return `${whole}s`;
  const minutes = Math.floor(whole / SECONDS_PER_MINUTE);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (minutes < MINUTES_PER_HOUR) return `${minutes}m${two(whole % SECONDS_PER_MINUTE)}s`;
  return `${Math.floor(minutes / MINUTES_PER_HOUR)}h${two(minutes % MINUTES_PER_HOUR)}m`;
}

/** Paths of a 20 by 20 grid, drawn as lines. */
const PATHS = {
  machine: 'M3 4h14v9H3zM7 17h6M10 13v4',
  processes: 'M4 5h12M4 10h12M4 15h8',
  files: 'M3 5h5l2 2h7v9H3z',
  grid: 'M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z',
  play: 'M6 4l10 6-10 6z',
  pause: 'M6 4v12M14 4v12',
  menu: 'M3 5h14M3 10h14M3 15h14',
  plus: 'M10 4v12M4 10h12',
  search: 'M9 4a5 5 0 100 10 5 5 0 000-10zM13 13l4 4',
  theme: 'M10 3a7 7 0 100 14V3z',
  out: 'M8 4H4v12h4M12 6l4 4-4 4M16 10H8',
  link: 'M8 12l4-4M7 9l-2 2a3 3 0 004 4l2-2M13 11l2-2a3 3 0 00-4-4L9 7',
  down: 'M10 3v10M6 9l4 4 4-4M4 17h12',
  up: 'M10 14V4M6 8l4-4 4 4M4 17h12',
  keyboard: 'M2 6h16v8H2zM5 9h.01M8 9h.01M11 9h.01M14 9h.01M6 12h8',
  eye: 'M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5zM10 8a2 2 0 100 4 2 2 0 000-4z',
  close: 'M5 5l10 10M15 5L5 15',
  folder: 'M3 5h5l2 2h7v9H3z',
  file: 'M5 3h7l3 3v11H5zM12 3v3h3',
  trash: 'M4 6h12M8 6V4h4v2M6 6l1 11h6l1-11',
  pencil: 'M4 16l1-4 8-8 3 3-8 8z',
  diff: 'M10 4v6M7 7h6M7 15h6',
  port: 'M4 10h8M9 6l4 4-4 4M16 4v12',
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration: what it means is said in words next to it, or in the label of its button. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      width="18"
      height="18"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

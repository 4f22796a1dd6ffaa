export const COLOURS = {
  background: '#0b0e13',
  foreground: '#dfe5ee',
  cursor: '#6ea0ff',
  cursorAccent: '#0b0e13',
  selectionBackground: '#2a4374',
  black: '#1b212a',
  red: '#ff7b7b',
  green: '#5cd699',
  yellow: '#f2c14e',
  blue: '#6ea0ff',
  magenta: '#d29bff',
  cyan: '#56d4dd',
  white: '#dfe5ee',
  brightBlack: '#7d8896',
  brightRed: '#ffa3a3',
  brightGreen: '#8ae6b5',
  brightYellow: '#ffd77a',
  brightBlue: '#9dbfff',
  brightMagenta: '#e3c1ff',
  brightCyan: '#8ae9ef',
  brightWhite: '#ffffff',
};

/** How places that were searched for look. */
export const FOUND = {
  matchBackground: '#4a3b12',
  matchOverviewRuler: '#f2c14e',
  activeMatchBackground: '#8a6a1a',
  activeMatchColorOverviewRuler: '#ffd77a',
};

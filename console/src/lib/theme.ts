import { Store } from './store.js';

export type Theme = 'light' | 'dark';

const KEY = 'execwire-theme';

function preferred(): Theme {
  const stored = localStorage.getItem(KEY);
  if (stored === 'light' || stored === 'dark') return stored;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export const theme = new Store<Theme>(preferred());

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value;
}

export function toggleTheme(): void {
  theme.set(theme.value === 'dark' ? 'light' : 'dark');
  localStorage.setItem(KEY, theme.value);
  applyTheme();
}

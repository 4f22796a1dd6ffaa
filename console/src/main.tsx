import './lib/without-eval.js';
import { render } from 'preact';
import { App } from './app.js';
import { begin } from './lib/session.js';
import { applyTheme } from './lib/theme.js';
import './style.css';

applyTheme();
const root = document.getElementById('app');
if (root) render(<App />, root);
void begin();

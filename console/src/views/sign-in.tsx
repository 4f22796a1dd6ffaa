import { useState } from 'preact/hooks';
import { signIn, signInError } from '../lib/session.js';
import { useStore } from '../lib/store.js';

export function SignIn() {
  const [token, setToken] = useState('');
  const error = useStore(signInError);
  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void signIn({ token });
        }}
      >
        <div class="row">
          <img src="/icon.svg" alt="" width="28" height="28" />
          <h1>Execwire</h1>
        </div>
        <p class="muted">
          Open the link that the console printed when it started. Each link signs one browser in; another one
          is printed when it has been used.
        </p>
        {error !== null && (
          <p
            class="badge bad"
            role="alert"
            style={{ whiteSpace: 'normal', padding: '8px 12px', borderRadius: '8px' }}
          >
            {error}
          </p>
        )}
        <label class="field">
          <span>Or sign in with a token</span>
          <input
            class="input"
            type="password"
            autocomplete="current-password"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button primary" disabled={token === ''}>
          Sign in
        </button>
      </form>
    </main>
  );
}

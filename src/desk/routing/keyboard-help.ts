import { type Html, html } from '../../text/html.js';

/**
 * What the keys of a list do (see `assets/desk.js`), behind a button that only the script shows: without it there are no
 * keys. They can be switched off.
 */
export function renderKeyboardHelp(keys: readonly (readonly [key: string, does: string])[]): Html {
  return html`<button type="button" class="quiet" data-help-button hidden>Keyboard</button>
<p class="hidden" role="status" data-announcer></p>
<dialog class="card" data-help aria-labelledby="keyboard"><h2 id="keyboard">Keyboard</h2>
<dl class="facts">${[...keys, ['?', 'this help'] as const].map(
    ([key, does]) => html`<dt><kbd>${key}</kbd></dt><dd>${does}</dd>`,
  )}</dl>
<p><label><input type="checkbox" data-keys-on checked> Use these keys</label></p>
<form method="dialog"><button>Close</button></form></dialog>`;
}

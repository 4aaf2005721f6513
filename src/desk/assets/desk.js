// What moves on the pages: live progress, and keys for lists. Everything works without this script.

// A second click sends nothing: the first one is on its way.
for (const form of document.querySelectorAll('form.change')) {
  let isSent = false;
  form.addEventListener('submit', (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  // The browser may show this very page again.
  addEventListener('pageshow', () => {
    isSent = false;
  });
}

for (const element of document.querySelectorAll('[data-live]')) {
  const events = new EventSource(element.dataset.live);
  events.addEventListener('content', ({ data }) => {
    const focused = element.contains(document.activeElement) && document.activeElement.getAttribute('href');
    // Our own server wrote and escaped it.
    element.innerHTML = data;
    // Whoever moves by keyboard stays where they were.
    if (focused) element.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  });
  events.addEventListener('error', () => {
    // Refused, for example because the session has ended: nothing more would come, and nobody would see that.
    if (events.readyState === EventSource.CLOSED) location.reload();
  });
  events.addEventListener('end', () => {
    events.close();
    // The rest of the page has changed too.
    location.reload();
  });
}

// A box that chooses all others of its form.
for (const all of document.querySelectorAll('[data-check-all]')) {
  all.hidden = false;
  all.addEventListener('change', () => {
    for (const box of all.closest('table').querySelectorAll('tbody input[type="checkbox"]'))
      box.checked = all.checked;
  });
}

// Keys for lists, on pages that have a help for them.
const help = document.querySelector('[data-help]');
if (help) {
  const usesKeys = help.querySelector('[data-keys-on]');
  const announcer = document.querySelector('[data-announcer]');
  const rows = [...document.querySelectorAll('[data-row]')];
  const targetOf = (row) => row?.querySelector('[data-open]') ?? row?.querySelector('a, input');
  const current = () => document.activeElement?.closest('[data-row]');
  // A real link has the focus, so that it is announced, and Enter opens it.
  const move = (by) => {
    const at = rows.indexOf(current());
    const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by;
    targetOf(rows[next])?.focus();
  };
  const keys = {
    '/': () => document.querySelector('[data-search]')?.select(),
    j: () => move(1),
    k: () => move(-1),
    e: () => (current() ?? document).querySelector('[data-resolve]')?.click(),
    x: () => {
      const box = current()?.querySelector('input[type="checkbox"]');
      if (!box) return;
      box.click();
      const chosen = rows.filter((row) => row.querySelector('input[type="checkbox"]')?.checked).length;
      announcer.textContent = `${box.getAttribute('aria-label')}: ${box.checked ? 'yes' : 'no'}. ${chosen} chosen.`;
    },
    '?': () => help.showModal(),
  };
  const button = document.querySelector('[data-help-button]');
  button.hidden = false;
  button.addEventListener('click', keys['?']);
  usesKeys.checked = localStorage.getItem('desk-keys') !== 'off';
  usesKeys.addEventListener('change', () =>
    localStorage.setItem('desk-keys', usesKeys.checked ? 'on' : 'off'),
  );
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
    const isTyping = target.closest('textarea, select, [contenteditable], input:not([type="checkbox"])');
    if (isTyping || help.open || !usesKeys.checked || !Object.hasOwn(keys, key)) return;
    event.preventDefault();
    keys[key]();
  });
}

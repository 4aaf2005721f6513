// What moves on the pages, such as live progress. Everything works without this script.

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

// The live part of a page is looked up again and again, until the page has none: what it follows has ended, or the session.
for (const live of document.querySelectorAll('[data-live]')) void follow(live);

async function follow(live) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const page = document.hidden ? undefined : await readPage();
    if (page === undefined) continue;
    const present = page.querySelector('[data-live]');
    if (present === null) return location.reload();
    update([...live.children], [...present.children]);
    // It says as of when the page is.
    update([document.querySelector('footer')], [page.querySelector('footer')]);
  }
}

/** This page as it is now; without content if it redirects, and undefined while the server is away. */
async function readPage() {
  try {
    const signal = AbortSignal.timeout(10_000);
    const headers = { accept: 'text/html' };
    const response = await fetch(location.href, { headers, signal, redirect: 'manual' });
    if (!response.ok && response.type !== 'opaqueredirect') return undefined;
    return new DOMParser().parseFromString(await response.text(), 'text/html');
  } catch {
    return undefined;
  }
}

/** Replaces only what has changed: buttons stay under the pointer, and texts stay selected. */
function update(shown, present) {
  const parent = shown[0]?.parentElement;
  if (shown.length !== present.length) return parent?.replaceChildren(...present);
  for (const [at, element] of shown.entries()) {
    if (element.isEqualNode(present[at])) continue;
    const focused = element.contains(document.activeElement) && document.activeElement.getAttribute('href');
    element.replaceWith(present[at]);
    // Whoever moves by keyboard stays where they were.
    if (focused) present[at].querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
}

// A box that chooses all others of its form.
for (const all of document.querySelectorAll('[data-check-all]')) {
  all.hidden = false;
  all.addEventListener('change', () => {
    for (const box of all.closest('table').querySelectorAll('tbody input[type="checkbox"]'))
      box.checked = all.checked;
  });
}

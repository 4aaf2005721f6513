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

// The live part of a page is looked up again and again, until the page has none: then all of it has changed.
for (const live of document.querySelectorAll('[data-live]')) void follow(live);

async function follow(live) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    if (document.hidden) continue;
    const page = await readPage();
    if (page === undefined) continue;
    const present = page.querySelector('[data-live]');
    if (present === null) return location.reload();
    if (present.innerHTML === live.innerHTML) continue;
    const focused = live.contains(document.activeElement) && document.activeElement.getAttribute('href');
    live.innerHTML = present.innerHTML;
    // Whoever moves by keyboard stays where they were.
    if (focused) live.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
}

/** This page as it is now; undefined while the server is away. */
async function readPage() {
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (response.status >= 500) return undefined;
    return new DOMParser().parseFromString(await response.text(), 'text/html');
  } catch {
    return undefined;
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

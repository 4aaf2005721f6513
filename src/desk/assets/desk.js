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

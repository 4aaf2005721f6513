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

// A tap on a day shows what its cell says, as pointing at it does; a second one opens the day.
if (matchMedia('(hover: none)').matches) {
  let shown;
  for (const day of document.querySelectorAll('.month a')) {
    day.addEventListener('click', (event) => {
      // By keyboard there is nothing more to be seen.
      if (day === shown || event.detail === 0) return;
      event.preventDefault();
      shown = day;
      // Not all browsers give links the focus when they are tapped.
      day.focus();
    });
    day.addEventListener('blur', () => {
      shown = undefined;
    });
  }
}

// What moves on the pages: live progress. Everything else works without this script.

for (const element of document.querySelectorAll('[data-live]')) {
  const events = new EventSource(element.dataset.live);
  events.addEventListener('content', ({ data }) => {
    // Our own server wrote and escaped it.
    element.innerHTML = data;
  });
  events.addEventListener('end', () => {
    events.close();
    // The rest of the page has changed too.
    location.reload();
  });
}

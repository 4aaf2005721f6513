import { showInLine } from '../../text/foreign-text.js';
import { type Html, html } from '../../text/html.js';

/** What the lists of a run share. */
export function backToRun(runId: string): Html {
  return html`<p><a href="/runs/${encodeURIComponent(runId)}">‹ Run ${showInLine(runId)}</a></p>`;
}

/** A reference, linked to everything that is known about it. */
export function linkBooking(reference: string | null): Html {
  if (reference === null) return html`<span class="faint">none</span>`;
  return html`<a href="/bookings?reference=${encodeURIComponent(reference.toWellFormed())}">${showInLine(reference)}</a>`;
}

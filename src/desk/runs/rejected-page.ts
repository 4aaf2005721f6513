import * as z from 'zod';
import { rejectToJson } from '../../ledger/collecting.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatCount } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { pageField } from '../fields.js';
import { type DeskVisit, definePage, type Page } from '../page.js';
import { entriesBefore, entriesPerPage, renderPages, toPage } from '../parts.js';
import { findShownRun, runInput } from './find-run.js';
import { backToRun, linkBooking } from './list-frame.js';

interface RejectedParts {
  readonly ledger: ReadOnlyLedger;
  /** What a place counts in the source, such as "line". */
  readonly placeUnit: string;
}

/** The records of a run that could not be sent: where in the source, why, and the value there. */
export function createRejectedPage({ ledger, placeUnit }: RejectedParts): Page {
  return definePage({
    path: '/runs/:id/rejected',
    permission: 'see-bookings',
    input: runInput.extend({ reason: z.string().max(100).optional(), page: pageField }),
    async read({ id, reason, page }, visit) {
      const run = await findShownRun(ledger, id);
      const reasons = await ledger.rejects.count(run.id);
      const kept = reasons.reduce((sum, one) => sum + one.count, 0);
      const found = reason === undefined ? kept : (reasons.find((one) => one.reason === reason)?.count ?? 0);
      const rejects = await ledger.rejects.list(run.id, entriesPerPage, {
        reason,
        skip: entriesBefore(page),
      });
      return {
        runId: run.id,
        day: run.day,
        reason: reason ?? null,
        reasons,
        ...toPage(found, page),
        more: Math.max(0, run.counts.rejected - kept),
        rejected: rejects.map((reject) => maskValue(rejectToJson(reject), visit)),
      };
    },
    audit: ({ day, runId, rejected }) => ({
      action: 'rejected',
      subject: day,
      details: { run: runId, found: rejected.length },
      revealsNames: false,
    }),
    render({ runId, reason, reasons, more, rejected, ...listed }) {
      const path = `/runs/${encodeURIComponent(runId)}/rejected`;
      const query = reason === null ? '' : `reason=${encodeURIComponent(reason)}&`;
      return {
        title: 'Rejected records',
        content: html`${backToRun(runId)}
<p>Records that can't be sent: correct them in the source, and run the day again.${more > 0 ? ` ${formatCount(more)} more were counted, but not kept.` : ''}</p>
${renderReasonLinks(path, reasons, reason)}
${renderPages(listed, 'record', (page) => `${path}?${query}page=${page}`)}
<div class="wide" tabindex="0"><table><thead><tr><th scope="col" class="number">${placeUnit.slice(0, 1).toUpperCase()}${placeUnit.slice(1)}</th><th scope="col">Reason</th><th scope="col">Reference</th><th scope="col">Field</th><th scope="col">Value</th></tr></thead>
<tbody>${rejected.map(
          (
            one,
          ) => html`<tr><th scope="row" class="number">${formatCount(one.place)}</th><td>${showInLine(one.reason)}</td><td>${linkBooking(one.reference)}</td><td>${showInLine(one.field ?? '')}</td><td class="value">${showInLine(one.value ?? '')}</td></tr>
`,
        )}</tbody></table></div>`,
      };
    },
  });
}

/** Columns are easily mixed up, so a value with a letter may be a name. */
function maskValue(record: ReturnType<typeof rejectToJson>, visit: DeskVisit): typeof record {
  const { value } = record;
  const mayBeName = value !== null && /\p{L}/u.test(value);
  return mayBeName && !visit.may('see-names') ? { ...record, value: '***' } : record;
}

function renderReasonLinks(
  path: string,
  reasons: readonly { readonly reason: string; readonly count: number }[],
  chosen: string | null,
): Html {
  const link = (href: string, name: string, isChosen: boolean) =>
    html`<li><a href="${href}"${isChosen ? html` aria-current="true"` : undefined}>${name}</a></li>`;
  return html`<ul class="plain buttons">${link(path, 'All', chosen === null)}${reasons.map(
    ({ reason, count }) =>
      link(
        `${path}?reason=${encodeURIComponent(reason)}`,
        `${showInLine(reason)} (${formatCount(count)})`,
        reason === chosen,
      ),
  )}</ul>`;
}

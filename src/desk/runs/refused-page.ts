import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import { createRunMask, refusedToJson } from '../../review/stored/stored-line.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatCount } from '../../text/format.js';
import { html } from '../../text/html.js';
import type { WriteCommand } from '../../text/shell.js';
import { pageField } from '../fields.js';
import { definePage, type Page } from '../page.js';
import { entriesBefore, entriesPerPage, renderPages, toPage } from '../parts.js';
import { findShownRun, runInput } from './find-run.js';
import { backToRun, linkBooking } from './list-frame.js';

interface RefusedParts {
  readonly ledger: ReadOnlyLedger;
  readonly command: WriteCommand;
}

/** Every name of the run is masked in the service's words, which would take a page too long for a larger run. */
const bookingsMasked = 30_000;

/** The bookings that the service would not take, and its words, with guests masked. */
export function createRefusedPage({ ledger, command }: RefusedParts): Page {
  return definePage({
    path: '/runs/:id/refused',
    permission: 'see-bookings',
    input: runInput.extend({ page: pageField }),
    async read({ id, page }) {
      const run = await findShownRun(ledger, id);
      const refused = await ledger.bookings.listRefused(run.id, entriesPerPage, entriesBefore(page));
      const hasWords = run.counts.accepted <= bookingsMasked;
      const words = hasWords ? await readWords(ledger, run, refused) : new Map<string, string>();
      return {
        runId: run.id,
        day: run.day,
        ...toPage(run.counts.refused, page),
        hasWords,
        refused: refused.map((one) => ({ ...refusedToJson(one), answer: words.get(one.step) ?? null })),
      };
    },
    audit: ({ day, runId, refused, hasWords }) => ({
      action: 'show',
      subject: day,
      details: { run: runId, found: refused.length, answers: hasWords },
      revealsNames: hasWords,
    }),
    render: ({ runId, hasWords, refused, ...listed }) => ({
      title: 'Refused bookings',
      content: html`${backToRun(runId)}
<p>The service would not take these bookings; all others of their batches were sent without them.</p>
${hasWords ? undefined : html`<p>Of a run with more than ${formatCount(bookingsMasked)} bookings, the service's words are shown one by one: <code>${command('show REFERENCE --answers')}</code></p>`}
${renderPages(listed, 'booking', (page) => `/runs/${encodeURIComponent(runId)}/refused?page=${page}`)}
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Reference</th><th scope="col">Code</th><th scope="col">What the service said</th><th scope="col">Step</th></tr></thead>
<tbody>${refused.map(
        ({
          reference,
          code,
          answer,
          step,
        }) => html`<tr><th scope="row">${linkBooking(reference)}</th><td><code>${showInLine(code)}</code></td><td class="value">${answer === null ? html`<span class="faint">not kept</span>` : showInLine(answer)}</td><td>${showInLine(step)}</td></tr>
`,
      )}</tbody></table></div>`,
    }),
  });
}

/** What the service said last about each step. */
async function readWords(
  ledger: RefusedParts['ledger'],
  run: Run,
  refused: readonly { readonly step: string }[],
): Promise<ReadonlyMap<string, string>> {
  const answers = await ledger.steps.listAnswers(
    run.id,
    refused.map(({ step }) => step),
  );
  const texts = answers.flatMap(({ answer }) => answer ?? []);
  const mask = await createRunMask(ledger, run, texts);
  return new Map(answers.map(({ step, answer = '' }) => [step, mask.apply(answer)]));
}

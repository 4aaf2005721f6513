import { showInLine } from '../../src/base/foreign-text.js';
import { formatCount, formatCountOf } from '../../src/base/format.js';
import { renderTable } from '../../src/base/tables.js';
import { createBusinessDay, goBack } from '../../src/booking/business-day.js';
import {
  createScoreMemory,
  nameUnknown,
  type ProviderJson,
  scoreProviders,
} from '../../src/cases/scores/scorecard.js';
import { command, csvOptions, dayOption, readRange } from '../command.js';
import { exitCode } from '../exit-code.js';

const usualDays = 30;

/** Compares the providers over a range of days, the latest ones by default; exits with 1 if nothing was sent in it. */
export default command({
  place: ['past', 7],
  summary: 'compare the providers: bookings sent, affected, cases, and how soon they were corrected',
  options: {
    from: dayOption('--from <day>', 'the first day (default: 30 days in all)'),
    to: dayOption('--to <day>', 'the last day (default: today)'),
    ...csvOptions,
  },
  examples: `
Examples:
  hotel-review providers                                      the last 30 days
  hotel-review providers --from 2026-10-01 --to 2026-10-31 --csv october.csv`,

  async run(app, { from: first, to = app.today(), ...file }) {
    const { timezone } = app.config;
    const from = first ?? goBack(createBusinessDay(to, timezone), usualDays - 1).iso;
    const days = readRange({ from, to });
    const ledger = await app.findLedger();
    if (!ledger) return app.answerNone({ from, to, providers: [] });

    const scored = await createScoreMemory(ledger)(days, app.signal);
    const providers = await scoreProviders(ledger, timezone, scored);
    await app.writeCsv(file, columns, (add) => add(providers.map(toCells)));
    const json = { from, to, providers };
    if (providers.length === 0) return app.answerNone(json, `${from} to ${to}: no booking was sent.`);
    const text = [
      `${from} to ${to}:`,
      renderTable(providers.map(toRow), head),
      '  verdict: bookings with a known verdict. affected: of these, the incorrect ones, and',
      '  between which percentages their share lies, with 95 % certainty. named: without a',
      '  verdict, but named as incorrect by an e-mail. hours: median, from opening a case to',
      '  its correction. suspects: those that were right, of those judged.',
      renderOffenders(providers),
      file.csv !== undefined && `All of this is in ${file.csv}.`,
    ];
    return app.answer(text, json, exitCode.done);
  },
});

const head = ['provider', 'sent', 'verdict', 'affected', '% (95 %)', 'named', 'cases', 'hours', 'suspects'];

const formatPercent = (share: number | null) => ((share ?? 0) * 100).toFixed(2);
const nameOf = ({ providerName }: ProviderJson) => providerName ?? '(none)';

function toRow(provider: ProviderJson): string[] {
  const { affected, affectedShare, affectedShareLow, affectedShareHigh, namedByEmail, suspects } = provider;
  const share = `${formatPercent(affectedShare)} (${formatPercent(affectedShareLow)} to ${formatPercent(affectedShareHigh)})`;
  return [
    nameOf(provider),
    formatCount(provider.sent),
    formatCount(provider.known),
    affected === null ? nameUnknown(provider) : formatCount(affected),
    affected === null ? '-' : share,
    namedByEmail === 0 ? '-' : formatCount(namedByEmail),
    formatCount(provider.cases),
    String(provider.medianHoursToCorrection ?? '-'),
    suspects.incorrect === null ? '-' : `${suspects.incorrect} of ${suspects.known}`,
  ];
}

function renderOffenders(providers: readonly ProviderJson[]): string[] {
  const rows = providers.flatMap((provider) =>
    provider.repeatOffenders.map(({ providerHotelId, cases, days }) => [
      ...[nameOf(provider), providerHotelId],
      ...[formatCountOf(days, 'day'), formatCountOf(cases, 'case')],
    ]),
  );
  return rows.length === 0 ? [] : ['affected on several days, or with several cases:', renderTable(rows)];
}

/** Of `--csv`. */
const columns = [
  ...['providerName', 'sent', 'known', 'affected', 'affectedShare', 'affectedShareLow', 'affectedShareHigh'],
  ...['byEmail', 'namedByEmail', 'cases', 'corrected', 'medianHoursToCorrection'],
  ...['suspectsFlagged', 'suspectsKnown', 'suspectsIncorrect', 'repeatOffenders'],
];

/** Unknown values say why. */
function toCells(provider: ProviderJson): object {
  const { affected, suspects, repeatOffenders } = provider;
  return {
    ...provider,
    affected: affected ?? nameUnknown(provider),
    suspectsFlagged: suspects.flagged,
    suspectsKnown: suspects.known,
    suspectsIncorrect: suspects.incorrect,
    repeatOffenders: repeatOffenders.map(({ providerHotelId }) => showInLine(providerHotelId)).join(' '),
  };
}

import { formatCount } from '../../base/format.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { cleanText, foldCase } from '../../booking/field-text.js';
import { matchColumns, splitWords } from '../../booking/match-columns.js';
import { SourceError } from '../../booking/source.js';
import { listFieldColumns } from '../../sources/common/columns.js';
import type { SourceParts } from '../../sources/common/kind.js';
import type { RowFilter } from '../../sources/common/row-filter.js';
import type { Sample } from '../../sources/common/sample.js';
import { createValueTest } from '../../sources/common/where-condition.js';
import { kindOf, type SourceSettings } from '../../sources/registry.js';
import { type Finding, findingsOf } from '../check.js';
import { writeYaml } from './write-yaml.js';

/** A column that nobody uses, by which some bookings are cancelled or not confirmed yet. */
interface UnconfirmedColumn {
  readonly column: string;
  /** Of the sample. */
  readonly records: number;
  /** How many of them don't look confirmed. */
  readonly unconfirmed: number;
  /** The values that may be shown, the most frequent first; empty for none. */
  readonly values: readonly { readonly value: string; readonly count: number }[];
  /** The records with other values. */
  readonly others: number;
  readonly where: RowFilter;
}

export interface Unconfirmed {
  readonly columns: readonly UnconfirmedColumn[];
  /** The setting that leaves them all out, with what it says already. */
  readonly where: RowFilter;
}

/** More different values are no list of states. */
const mostValues = 12;

/**
 * Finds columns of few values, some of which mean that a booking is cancelled or not confirmed; undefined without any.
 *
 * @param columns those that nothing uses
 * @param where what `source.where` says already
 */
export function findUnconfirmed(
  records: Sample['records'],
  columns: readonly string[],
  where: RowFilter = {},
): Unconfirmed | undefined {
  const found = columns.flatMap((column) => judgeColumn(column, records) ?? []);
  if (found.length === 0) return undefined;
  return { columns: found, where: Object.assign({}, where, ...found.map((one) => one.where)) };
}

function judgeColumn(column: string, records: Sample['records']): UnconfirmedColumn | undefined {
  // A name twice is nobody's choice, and a column named like a field holds that field, perhaps a guest.
  if (column === '' || matchColumns([column]).columns.size > 0) return undefined;
  const counts = countValues(column, records);
  if (counts === undefined) return undefined;
  const read = readerOf(column);
  const values = [...counts]
    .map(([value, count]) => ({ value, count, status: read(value) }))
    .toSorted((one, other) => other.count - one.count);
  const isClear = values.some(({ status }) => status === 'cancelled' || status === 'confirmed');
  const unconfirmed = values.filter(
    ({ status }) => status === 'cancelled' || (status === 'doubtful' && isClear),
  );
  const filled = values.filter(({ value }) => value !== '');
  const unknown = filled.filter(({ status }) => status === undefined);
  // In a few records any column has few values. Those of a list of states are repeated.
  if (unconfirmed.length === 0 || unknown.length * 2 > sum(filled)) return undefined;
  const shown = values.filter((one) => one.value === '' || one.status !== undefined || isCode(one));
  return {
    column,
    records: records.length,
    unconfirmed: sum(unconfirmed),
    values: shown.map(({ value, count }) => ({ value, count })),
    others: records.length - sum(shown),
    where: { [column]: { not: unconfirmed.map(({ value }) => value) } },
  };
}

function readerOf(column: string) {
  return isFlagName(column) ? readFlag : readStatus;
}

/** The filter that leaves out what is cancelled for certain: what is not confirmed yet may still be, and is then to be reviewed. */
export function leaveOutCancelled({ columns }: Unconfirmed): RowFilter {
  const filters = columns.map(({ column, values }): [string, string[]] => [
    column,
    values.flatMap(({ value }) => (readerOf(column)(value) === 'cancelled' ? value : [])),
  ]);
  return Object.fromEntries(
    filters.filter(([, values]) => values.length > 0).map(([column, values]) => [column, { not: values }]),
  );
}

/** By value, as `source.where` compares it; undefined if there are too many. */
function countValues(column: string, records: Sample['records']): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>();
  const spellings = new Map<string, string>();
  for (const record of records) {
    const text = cleanText(record.get(column) ?? '');
    const value = spellings.get(foldCase(text)) ?? text;
    spellings.set(foldCase(text), value);
    counts.set(value, (counts.get(value) ?? 0) + 1);
    if (counts.size - (counts.has('') ? 1 : 0) > mostValues) return undefined;
  }
  return counts;
}

/** An unknown value may be shown if it is one word that many records share: nobody's name. */
function isCode({ value, count }: { readonly value: string; readonly count: number }): boolean {
  return count >= 10 && /^[\p{L}\p{N}_-]{1,20}$/u.test(value);
}

function sum(values: readonly { readonly count: number }[]): number {
  return values.reduce((total, { count }) => total + count, 0);
}

/** One line for each column. */
export function describeUnconfirmed({ columns }: Unconfirmed): string {
  return columns.map(describeColumn).join('\n');
}

function describeColumn({ column, records, unconfirmed, values, others }: UnconfirmedColumn): string {
  const counts = values.map(
    ({ value, count }) => `${value === '' ? 'empty' : JSON.stringify(value)} ${formatCount(count)}`,
  );
  const rest = others > 0 ? [`others ${formatCount(others)}`] : [];
  return (
    `${formatCount(unconfirmed)} of the first ${formatCount(records)} records look cancelled or not confirmed by the ` +
    `column ${JSON.stringify(column)}, which nothing uses: ${[...counts, ...rest].join(', ')}`
  );
}

/** What to do about them. */
export function adviseOnUnconfirmed({ where }: Unconfirmed): string {
  return `They would be sent to the service. To leave them out: source.where: ${writeYaml(where)}. If they are to be reviewed, name the column in source.keep.`;
}

/**
 * What a value says about its booking. `doubtful` words have other meanings elsewhere (CAN is Canada, PEN a currency, a
 * payment may be pending): they count only beside a word that is clear.
 */
export type Status = 'cancelled' | 'doubtful' | 'confirmed';

const longestStatus = 40;

/**
 * Reads a value of a column, in English, Spanish, German, French, Italian or Portuguese; undefined unless all of its words
 * are known, so that what is read names nobody.
 */
export function readStatus(value: string): Status | undefined {
  if (value.length > longestStatus) return undefined;
  const words = splitWords(value);
  const whole = words.join('');
  if (cancellations.has(whole)) return 'cancelled';
  const core = words.filter((word) => !isAside(word)).join('') || whole;
  if (cancelled.has(core)) return 'cancelled';
  if (doubtful.has(core)) return 'doubtful';
  return confirmed.has(core) ? 'confirmed' : undefined;
}

/** The same for a column that is named like a status, such as `cancelled`, and holds yes or no. */
function readFlag(value: string): Status | undefined {
  const word = splitWords(value).join('');
  if (yes.has(word)) return 'cancelled';
  return no.has(word) ? 'confirmed' : readStatus(value);
}

/** `is_cancelled`, `booking.storniert` */
function isFlagName(column: string): boolean {
  return cancelled.has(
    splitWords(column)
      .filter((word) => !isAside(word) && !verbs.has(word))
      .join(''),
  );
}

/** Codes and numbers of a list, too: "3 - cancelled by hotel". */
function isAside(word: string): boolean {
  return asides.has(word) || /^\d{1,3}$/.test(word);
}

const cancelled = list(`
  cancelled canceled canc cancl cncl cncld cxl cxld cxx cnx canx cancel void voided rejected declined refused denied deleted
  expired failed noshow notarrived withdrawn
  cancelada cancelado canceladas cancelados anulada anulado anuladas anulados anul rechazada rechazado denegada denegado
  eliminada eliminado caducada caducado nopresentada nopresentado nosepresento
  storniert stornierte storn annulliert abgesagt abgelehnt geloscht geloescht verfallen nichterschienen nichtangereist
  annule annulee annules annulees refuse refusee rejete rejetee supprime supprimee expire expiree nonpresente nonpresentee
  annullata annullato annullate annullati cancellata cancellato cancellate cancellati disdetta disdetto rifiutata rifiutato
  respinta respinto scaduta scaduto stornata stornato nonpresentata nonpresentato mancatoarrivo
  rejeitada rejeitado recusada recusado expirada expirado excluida excluido naocompareceu naoapresentado`);

/** Only without other words: "free cancellation" is something else. */
const cancellations = list(`
  cancellation cancelation cancelacion anulacion incomparecencia storno stornierung absage annulation annullamento
  cancellazione cancelamento anulacao naocomparecimento`);

const doubtful = list(`
  pending pend unconfirmed notconfirmed tobeconfirmed toconfirm tbc provisional tentative option optional optioned onrequest
  request requested awaiting waiting waitlist waitlisted waitinglist onhold hold quote quoted quotation draft enquiry inquiry
  processing inprocess inprogress inactive
  pendiente pendientes pdte pte noconfirmada noconfirmado sinconfirmar confirmar tentativa tentativo opcion espera enespera
  listaespera listadeespera bajopeticion peticion solicitada solicitado presupuesto borrador entramite inactiva inactivo
  offen ausstehend unbestatigt unbestaetigt nichtbestatigt nichtbestaetigt zubestatigen zubestaetigen vorlaufig vorlaeufig
  provisorisch optioniert angefragt anfrage aufanfrage warteliste wartend inbearbeitung angebot entwurf vorgemerkt inaktiv
  attente enattente nonconfirme nonconfirmee confirmer provisoire demande surdemande listeattente listedattente encours devis
  brouillon inactif
  attesa inattesa nonconfermata nonconfermato confermare provvisoria provvisorio opzione opzionata opzionato richiesta
  surichiesta insospeso sospesa sospeso listaattesa listadattesa listadiattesa preventivo bozza inlavorazione inattiva
  pendente pendentes naoconfirmada naoconfirmado provisoria provisorio opcao emespera aguardando sobconsulta sobpedido pedido
  orcamento rascunho emandamento inativa inativo
  can pen xx hx rq`);

const confirmed = list(`
  confirmed confirm conf con cfm cfmd cnf ok okay hk booked active valid approved accepted guaranteed definite completed
  complete issued ticketed vouchered modified amended checkedin checkedout inhouse stayed arrived departed
  confirmada confirmado confirmadas confirmados activa activo vigente aceptada aceptado garantizada modificada modificado
  completada finalizada
  bestatigt bestaetigt gebucht aktiv gultig gueltig angenommen garantiert geandert geaendert abgeschlossen
  eingecheckt ausgecheckt angereist abgereist
  confirme confirmee confirmes confirmees actif valide validee accepte acceptee garantie modifie modifiee terminee
  confermata confermato confermate confermati attiva attivo valida valido accettata accettato garantita modificata
  modificato completata
  ativa ativo aceita aceite garantida alterada concluida`);

/** Who did it, or what was done: "reservation annulee par le client". */
const asides = list(`
  by the booking bookings reservation reservations reserva reservas buchung reservierung prenotazione status guest client
  customer hotel agency agent supplier provider system user auto automatically for payment confirmation approval
  de di confirmacion confirmacao conferma bestatigung pagamento paiement zahlung
  cliente huesped agencia proveedor sistema pago por el la los a
  gast kunde kunden agentur lieferant von vom dem durch
  voyageur agence fournisseur par le l
  ospite agenzia fornitore da dal dalla dall
  hospede pelo pela o`);

const verbs = list('is was has been ist wurde es fue est e foi flag');
const yes = list('true t yes y 1 si s sim ja j oui o wahr vero verdadero verdadeiro vrai x');
const no = list('false f no n 0 nein non nao falsch falso faux');

function list(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/));
}

/**
 * Looks at the first records of a day. Undefined if the source can't be read in time, which is for others to say.
 *
 * @param until `enough` ends the look without a result
 * @throws the reason of `signal` if it aborts
 */
export async function takeSample(
  settings: SourceSettings,
  parts: SourceParts,
  day: BusinessDay,
  { signal, enough }: Readonly<Record<'signal' | 'enough', AbortSignal>>,
): Promise<Sample | undefined> {
  try {
    const sample = await kindOf(settings).openSample(settings, parts);
    return await sample(day, AbortSignal.any([signal, enough]));
  } catch (error) {
    signal.throwIfAborted();
    if (enough.aborted || error instanceof SourceError) return undefined;
    throw error;
  }
}

/** Whether some of its records are cancelled by a column that the settings don't name. */
export function lookForUnconfirmed(
  found: Sample | undefined,
  settings: SourceSettings,
): Unconfirmed | undefined {
  if (found === undefined) return undefined;
  return findUnconfirmed(pickReviewed(found, settings), listUnused(found, settings), settings.where);
}

export function warnOfUnconfirmed(found: Unconfirmed | undefined): readonly Finding[] {
  return found === undefined
    ? []
    : [findingsOf('source').warning(describeUnconfirmed(found), adviseOnUnconfirmed(found))];
}

/** The records that `source.where` takes. */
function pickReviewed({ columns, records }: Sample, { where }: SourceSettings): Sample['records'] {
  const tests = Object.entries(where).map(([column, condition]) => {
    // Databases fold the case of names.
    const name = columns.find((one) => one === column) ?? columns.find((one) => fold(one) === fold(column));
    return { name: name ?? column, isMet: createValueTest(condition) };
  });
  return records.filter((record) => tests.every(({ name, isMet }) => isMet(record.get(name))));
}

function listUnused({ columns: names }: Sample, { columns, where, keep }: SourceSettings): readonly string[] {
  const fields = listFieldColumns(columns).flatMap((one) => one?.column ?? []);
  const used = new Set([...fields, ...Object.keys(where), ...Object.values(keep)].map(fold));
  return names.filter((name) => !used.has(fold(name)) && names.indexOf(name) === names.lastIndexOf(name));
}

function fold(name: string): string {
  return name.toLowerCase();
}

import { splitWords } from '../../booking/match-columns.js';

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
export function readFlag(value: string): Status | undefined {
  const word = splitWords(value).join('');
  if (yes.has(word)) return 'cancelled';
  return no.has(word) ? 'confirmed' : readStatus(value);
}

/** `is_cancelled`, `booking.storniert` */
export function isFlagName(column: string): boolean {
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
